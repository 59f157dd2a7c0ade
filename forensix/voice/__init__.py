"""Who speaks when, how it sounds, and how usual that is.

Everything works on mono 16 kHz samples, int16 or float, as ``media.samples()`` returns them; long recordings are read
in blocks. A tour, from samples to a speaker's features beside the reference population::

    from forensix.voice import compare, diarise, extract, forensix_gender, speech_segments, transcribe

    segments = speech_segments(samples)              # (Segment(start_s=0.3, end_s=2.1), ...); () is: no speech
    speakers = diarise(samples, segments)            # (SpeakerTurns("speaker_1", segments), ...)
    said = transcribe(samples, segments)             # said.text in English, said.engine names who wrote it
    for speaker in speakers:
        values = extract(samples, speaker.segments)  # ten numbers, None where unmeasurable
        gender, probability = forensix_gender().classify(samples, speaker.segments)
        features = compare(values, gender)           # schema.AudioFeatures: bounds, ranks, outliers
        said.of(speaker.segments)                    # this speaker's words

`speech` finds speech, `speakers` tells voices apart, `features` measures, `population` compares with real voices,
`gender` and `transcript` are what their names say, `spoof` scores a voice as synthetic. Each module says how it fails.
Names are imported when they are first used: Praat, torch and the rest are not loaded with the package.
"""

from typing import TYPE_CHECKING

import lazy_loader

if TYPE_CHECKING:
    from forensix.voice.features import extract
    from forensix.voice.gender import forensix_gender
    from forensix.voice.population import compare
    from forensix.voice.speakers import SpeakerTurns, diarise
    from forensix.voice.speech import Segment, speech_segments
    from forensix.voice.transcript import Transcript, transcribe

__all__ = [
    "Segment",
    "SpeakerTurns",
    "Transcript",
    "compare",
    "diarise",
    "extract",
    "forensix_gender",
    "speech_segments",
    "transcribe",
]

__getattr__, __dir__, _ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "features": ["extract"],
        "gender": ["forensix_gender"],
        "population": ["compare"],
        "speakers": ["SpeakerTurns", "diarise"],
        "speech": ["Segment", "speech_segments"],
        "transcript": ["Transcript", "transcribe"],
    },
)
