"""How often one-piece recordings of human speech get a suspect claim from what their sound shows."""

from pathlib import Path

import pytest

from forensix.forensics.rules import audio
from forensix.manifest import Manifest
from forensix.metadata.av import audio_signal
from forensix.metadata.av.collector import FactCollector
from forensix.metadata.facts import Facts

ALLOWED = 0.05
EVERY = 6


@pytest.mark.slow
def test_fewer_than_one_in_twenty(corpora: Path) -> None:
    real = sorted(Manifest.read(corpora / "voice" / "manifest.csv").where(label="real").paths())[::EVERY]
    raised = 0
    for path in real:
        collector = FactCollector()
        collector.fact("stream.audio", {"codec": "flac"}, "stream 0")
        audio_signal.read(str(path), "flac", collector)
        facts = Facts("audio", "flac", tuple(collector.items))
        raised += any(f.severity != "benign" for f in audio.signal(facts))
    assert len(real) > 50
    assert raised / len(real) < ALLOWED
