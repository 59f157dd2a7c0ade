"""What makes a report, beside its input: where any of it differs, a report that is there is not taken over."""

import argparse
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forensix import __version__

_PARTS = {"transcript", "whisper", "watermark"}
"""Extras that reports say more with."""


def made_by(options: argparse.Namespace, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return what makes the reports of ``forensix analyze``, by name; ``choices`` are components and where they run.

    Raises
    ------
    UsageError
        There is no such task.
    ModelError
        There is no such component.
    """
    from forensix.cli.doctor import extras
    from forensix.evaluation.identity import code_identity, component_identity, digest
    from forensix.evaluation.keys import content_hash
    from forensix.metadata import exiftool
    from forensix.tasks.command_line import WHERE
    from forensix.tasks.task import usable_names
    from forensix.voice import population, transcript

    named = os.environ.get(population.SETTING)
    surroundings = {
        "ExifTool": str(exiftool.installed()),
        population.SETTING: content_hash(named) if named and Path(named).is_file() else named,
        transcript.SETTING: os.environ.get(transcript.SETTING),
    }
    return {
        "version of forensix": __version__,
        # Of all tasks, so that another choice of them is told as that alone.
        "code (forensix's own, or that of packages it calls)": digest([code_identity(task) for task in usable_names()]),
        "choice of tasks": options.task,
        "--no-explain": not options.explain,
        "--no-transcribe": not options.transcribe,
        "--additional-info": options.additional_info,
        "--device": choices["device"],
        # One that does not say what it is may have been another.
        "choice of components": {
            slot: component_identity(slot, chosen) or secrets.token_hex()
            for slot, chosen in choices.items()
            if slot not in WHERE
        },
        "set of optional parts": [part.name for part in extras() if part.there and part.name in _PARTS],
        **surroundings,
    }
