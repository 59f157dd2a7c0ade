"""What ExifTool says of a file, where it is installed: facts to look at beside ours, never needed by a rule.

The result must not depend on what a machine has installed, so no claim follows from these facts. Keys are
``exiftool.<group>.<tag>``.
"""

import json
import shutil
import subprocess
from pathlib import Path

from forensix.metadata.facts import Fact

WAIT_S = 5.0
MAX_FACTS = 1500
MAX_TEXT = 2000
SKIPPED = ("System", "File", "ExifTool", "Composite", "SourceFile")


def read(path: str | Path) -> list[Fact]:
    """Return ExifTool's tags; none where it is not installed, fails or takes too long."""
    program = shutil.which("exiftool")
    if program is None:
        return []
    command = [program, "-config", "", "-j", "-G1", "-struct", "-fast", "-api", "LargeFileSupport=0", "--", str(path)]
    try:
        ended = subprocess.run(command, capture_output=True, timeout=WAIT_S, check=False, stdin=subprocess.DEVNULL)
        rows = json.loads(ended.stdout.decode("utf-8", "replace"))
    except (OSError, subprocess.SubprocessError, ValueError, RecursionError):
        return []
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        return []
    facts = []
    for name, value in rows[0].items():
        group, _, tag = str(name).partition(":")
        if group in SKIPPED or not tag:
            continue
        shown = value[:MAX_TEXT] if isinstance(value, str) else value
        facts.append(Fact(f"exiftool.{group}.{tag}", shown, f"ExifTool, {name}"))
    return facts[:MAX_FACTS]
