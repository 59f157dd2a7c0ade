"""Rules on recordings, each on a file that the test makes or on facts that it states."""

import re
import wave
from pathlib import Path

import av
import numpy as np
import pytest

import forensix
from forensix.forensics import claims, result
from forensix.media import open_media
from forensix.metadata.av import audio_signal
from forensix.metadata.av import reader as container
from forensix.metadata.facts import Fact, Facts
from forensix.tasks.evidence import Timeline
from forensix.tasks.moments import moments
from tests.forensics.rules import pick
from tests.metadata.av.test_container_facts import sound, wav


def facts(*items: tuple[str, object]) -> Facts:
    return Facts("audio", "wav", tuple(Fact(key, value, "somewhere", 8 * i) for i, (key, value) in enumerate(items)))


def test_a_plain_recording_is_not_suspected(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 5 * 16000)
    findings = claims(container.read(str(wav(tmp_path / "a.wav", noise)), "wav"))
    assert [f.claim.claim for f in findings if f.severity != "benign"] == []
    assert pick(findings, "says nothing about its origin").severity == "benign"


def test_the_places_counted_are_the_places_marked(tmp_path: Path) -> None:
    """A hard cut, and clicks too weak to be told, which the fact holds as well."""
    rate = 16000
    seconds = np.arange(6 * rate) / rate
    tone = 0.4 * np.sin(2 * np.pi * 220 * seconds) + np.random.default_rng(0).normal(0, 0.001, len(seconds))
    tone[int(2.5 * rate) :] += 0.3
    for at in (1.2, 3.7, 4.9):
        tone[int(at * rate)] += 0.02
    path = wav(tmp_path / "a.wav", tone)
    read = container.read(str(path), "wav")
    assert len(read.get("signal.jumps")) > 1
    findings = pick(claims(read), "The waveform jumps at")
    assert findings.claim.claim == "The waveform jumps at 1 place"
    assert len(findings.claim.value) == 1
    with open_media(path) as media:
        (timeline,) = [item for item in moments(media, [findings]) if isinstance(item, Timeline)]
    assert [span.start_s for span in timeline.spans] == pytest.approx([2.5], abs=0.01)


def test_a_recording_without_any_sound_says_so_on_top(tmp_path: Path) -> None:
    path = wav(tmp_path / "a.wav", np.zeros(3 * 16000))
    silent = pick(claims(container.read(str(path), "wav")), "digital silence throughout")
    assert silent.severity == "benign" and "the 3 s that were decoded" in silent.claim.explanation
    report = forensix.analyze(path, ["forensic_analysis"])
    assert report.headline == (
        "The sound is digital silence throughout; "
        "nothing in the file points to a fake, which is no proof of authenticity."
    )
    nearly = np.zeros(3 * 16000)
    nearly[16000:16400] = 0.1
    findings = claims(container.read(str(wav(tmp_path / "b.wav", nearly)), "wav"))
    assert not [f for f in findings if "throughout" in f.claim.claim]
    long = facts(("signal.seconds", 300.0), ("signal.rate_hz", 16000), ("signal.silences", [[0.0, 300.0]]))
    assert pick(claims(long), "The first 300 s of sound are digital silence").severity == "benign"


@pytest.mark.parametrize(("n", "said"), [(59, "(59)"), (60, "(60 or more)")])
def test_more_places_than_are_kept_are_not_counted_as_all(n: int, said: str) -> None:
    silences = [[1.0 + i, 0.1] for i in range(n)]
    found = claims(facts(("signal.seconds", 99.0), ("signal.rate_hz", 16000), ("signal.silences", silences)))
    assert pick(found, "Digital silence inside").claim.claim.endswith(said)


@pytest.mark.parametrize("n", [1, 4, 5, 6, 12])
def test_a_sentence_counts_the_places_that_it_leaves_out(n: int) -> None:
    jumps = [[1.0 + i, 50.0] for i in range(n)] + [[40.0 + i, 39.0] for i in range(3)]
    findings = pick(
        claims(facts(("signal.seconds", 60.0), ("signal.rate_hz", 16000), ("signal.jumps", jumps))), "waveform jumps"
    )
    assert findings.claim.claim == f"The waveform jumps at {n} {'place' if n == 1 else 'places'}"
    assert [len(fact.value) for fact in findings.facts] == [n] == [len(findings.claim.value)]
    left_out = re.search(r"and (\d+) more places", findings.claim.explanation)
    assert findings.claim.explanation.count("times the usual") + (int(left_out[1]) if left_out else 0) == n


def test_weaker_silences_and_steps_are_not_marked() -> None:
    items = facts(
        ("signal.seconds", 60.0),
        ("signal.rate_hz", 16000),
        ("signal.silences", [[0.1, 0.2], [5.0, 0.06], [9.0, 0.5]]),
        ("signal.floor_steps", [[12.0, 30.0], [30.0, 7.0]]),
    )
    findings = claims(items)
    assert pick(findings, "Digital silence inside the recording (1)").facts[0].value == [[9.0, 0.5]]
    assert pick(findings, "The background noise changes").facts[0].value == [[12.0, 30.0]]


@pytest.mark.parametrize(
    ("codec", "silence_s", "cutoff_hz", "severity"),
    [
        ("pcm_s16le", 17.0, None, "suspect"),
        ("pcm_s16le", 18.0, None, "benign"),
        ("pcm_s16le", 17.0, 15000, "benign"),
        ("mp3", 17.0, 15000, "benign"),
        ("pcm_mulaw", 17.0, 15000, "benign"),
        ("pcm_f32le", 17.0, None, "suspect"),
    ],
)
def test_silence_that_a_codec_or_a_gate_makes_is_not_suspected(
    codec: str, silence_s: float, cutoff_hz: int | None, severity: str
) -> None:
    items = facts(
        ("stream.audio", {"codec": codec}),
        ("signal.seconds", 60.0),
        ("signal.rate_hz", 44100),
        ("signal.cutoff_hz", cutoff_hz),
        ("signal.silences", [[9.0, silence_s]]),
        ("signal.silent_s", silence_s),
    )
    findings = claims(items)
    assert pick(findings, "Digital silence inside the recording (1)").severity == severity
    if cutoff_hz:
        cut = "The format is lossless" if codec == "pcm_s16le" else "Lossy encoders cut off"
        assert cut in pick(findings, "The sound holds nothing above").claim.explanation


def test_joined_mp3(tmp_path: Path) -> None:
    first = sound(tmp_path / "a.mp3", "libmp3lame").read_bytes()
    path = tmp_path / "b.mp3"
    path.write_bytes(first + first[first.index(b"\xff\xfb") :])
    findings = claims(container.read(str(path), "mp3"))
    claim = pick(findings, "put together from 2 files")
    assert (claim.severity, claim.claim.user_category) == ("suspect", "editing")
    assert "FILE_EDITED" in result(findings).red_flags


def test_mp3_with_frames_taken_out(tmp_path: Path) -> None:
    path = sound(tmp_path / "a.mp3", "libmp3lame")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    assert pick(claims(container.read(str(path), "mp3")), "shorter than its header says").severity == "suspect"


def test_one_mp3_is_whole(tmp_path: Path) -> None:
    findings = claims(container.read(str(sound(tmp_path / "a.mp3", "libmp3lame")), "mp3"))
    assert not [f for f in findings if f.claim.type == "encoding" and f.severity != "benign"]


@pytest.mark.parametrize(
    ("key", "value", "named"),
    [
        ("id3.TSSE", "ElevenLabs", True),
        ("id3.COMM", "made with suno; created=2024", True),
        ("vorbis.ENCODER", "Suno v4", True),
        ("id3.TIT2", "Suno", False),
        ("id3.TPE1", "Suno", False),
    ],
)
def test_generators(key: str, value: str, named: bool) -> None:
    findings = claims(facts((key, value)))
    assert len([f for f in findings if f.claim.type == "ai_generated"]) == named


@pytest.mark.parametrize("key", ["id3.COMM.eng", "container.tag.comment", "container.tag.©cmt", "id3v1.comment"])
def test_a_comment_that_names_a_generator_is_told_once(key: str) -> None:
    findings = claims(facts((key, "Made with Suno")))
    assert [f.severity for f in findings if f.claim.type == "ai_generated"] == ["critical"]
    again = claims(facts((key, "Made with Suno"), ("id3.COMM.deu", "made with Suno"), ("id3v1.comment", "Made with")))
    assert len([f for f in again if f.claim.type == "ai_generated"]) == 1


def test_editor_and_library() -> None:
    findings = claims(facts(("id3.TSSE", "Audacity 3.4"), ("mpeg.encoder", "LAME3.100")))
    assert pick(findings, "editing program Audacity").severity == "suspect"
    assert pick(findings, "names the library that encoded it").severity == "benign"


def test_silence_put_into_a_lossless_recording(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 6 * 16000)
    noise[40000:44000] = 0
    findings = claims(container.read(str(wav(tmp_path / "a.wav", noise)), "wav"))
    claim = pick(findings, "Digital silence inside the recording (1)")
    assert claim.severity == "suspect" and "2.5" in claim.claim.explanation


@pytest.mark.parametrize(("step", "severity"), [(1 / 128, "benign"), (1 / 32768, "suspect")])
@pytest.mark.parametrize("loud", [1, 0.004])
def test_faint_background_that_few_steps_cannot_hold_is_not_suspected(
    step: float, severity: str, loud: float, tmp_path: Path
) -> None:
    """A pause whose background is fainter than half a step, in 8 bits or where all of it is very quiet."""
    noise = np.random.default_rng(0).normal(0, 0.2, 6 * 16000).clip(-0.9, 0.9)
    noise[40000:44000] *= step / 4
    steps = np.round(noise / step) * step
    path = wav(tmp_path / "a.wav", steps * (loud if step < 0.001 else 1))
    claim = pick(claims(container.read(str(path), "wav")), "Digital silence inside the recording (1)")
    assert claim.severity == (severity if loud == 1 else "benign")
    assert ("no faint background" in claim.claim.explanation) == (claim.severity == "benign")


@pytest.mark.parametrize(
    ("case", "severity", "words"),
    [
        ("one silence", "suspect", "which no microphone records"),
        ("a fade to nothing", "benign", "within two of its finest steps"),
        ("a loop", "benign", "about equally long"),
        ("three of any length", "suspect", "which no microphone records"),
        ("a call", "benign", "fall silent in turn"),
        ("one dead channel", "suspect", "which no microphone records"),
    ],
)
def test_silence_of_ordinary_material_without_loss_is_not_suspected(
    case: str, severity: str, words: str, tmp_path: Path
) -> None:
    rate = 16000
    noise = 2000 * np.random.default_rng(0).normal(size=(10 * rate, 2))
    starts = {"a loop": (2, 4, 6, 8), "three of any length": (2, 4, 6)}.get(case, (4,))
    for i, start in enumerate(starts):
        length = 0.2 if case == "a loop" else 0.2 + 0.1 * i
        noise[start * rate : int((start + length) * rate)] = 0
    if case == "a fade to nothing":
        noise[rate : 4 * rate] *= np.linspace(1, 0, 3 * rate)[:, None] ** 4
    if case == "a call":
        noise[: 4 * rate, 0] = noise[4 * rate :, 1] = 0
    if case == "one dead channel":
        noise[:, 0] = 0
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, rate, 0, "NONE", ""))
        file.writeframes(noise.round().astype("<i2").tobytes())
    claim = pick(claims(container.read(str(path), "wav")), "Digital silence inside")
    assert claim.severity == severity and words in claim.claim.explanation


@pytest.mark.slow
def test_long_recordings_are_measured_to_their_end(tmp_path: Path) -> None:
    """Silence across the end of a block of five minutes is one, and what lies behind is found where it is."""
    rate = 8000
    noise = np.random.default_rng(0).normal(0, 0.05, 330 * rate)
    noise[299 * rate : 301 * rate] = noise[320 * rate : 321 * rate] = 0
    noise[310 * rate] = 1
    read = container.read(str(wav(tmp_path / "a.wav", noise, rate)), "wav")
    assert read.get("signal.seconds") == 330.0 and read.get("signal.silent_s") == pytest.approx(3.0, abs=0.01)
    claim = pick(claims(read), "Digital silence inside the recording (2)")
    assert np.array(claim.facts[0].value) == pytest.approx(np.array([[299.0, 2.0], [320.0, 1.0]]), abs=0.01)
    assert not any(problem.unread for problem in read.problems)
    jump = read.get("signal.jumps")[0]
    assert jump[0] == pytest.approx(310.0, abs=0.02)


def test_many_short_silences_are_those_of_a_gate(tmp_path: Path) -> None:
    """More of them than are listed, which together are over a third of the recording."""
    noise = np.random.default_rng(0).normal(0, 0.05, 200 * 8000).reshape(200, 8000)
    noise[:, 4000:7600] = 0
    read = container.read(str(wav(tmp_path / "a.wav", noise.reshape(-1), 8000)), "wav")
    assert len(read.get("signal.silences")) == 60
    assert pick(claims(read), "Digital silence inside").severity == "benign"


def test_sound_that_is_not_measured_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audio_signal, "LONGEST", 4 * 16000)
    path = wav(tmp_path / "a.wav", np.random.default_rng(0).normal(0, 0.05, 6 * 16000))
    claim = pick(claims(container.read(str(path), "wav")), "A part of the file was not read")
    assert "behind its first 4.0 s was not measured" in claim.claim.explanation


@pytest.mark.parametrize(
    ("sign", "severity"),
    [
        (("signal.cutoff_hz", 8900), "benign"),
        (("signal.grid", [[0.0, 60.0, 7, 19.0, 3.0]]), "benign"),
        (("signal.cutoff_hz", None), "suspect"),
    ],
)
def test_silence_that_an_encoder_can_have_made_is_not_suspected(sign: tuple[str, object], severity: str) -> None:
    """Encoders with loss round what is nearly silent to zeros: so it is in WAV files that were MP3 or AAC."""
    found = claims(
        facts(
            ("stream.audio", {"codec": "pcm_s16le"}),
            ("signal.seconds", 60.0),
            ("signal.rate_hz", 24000),
            ("signal.silences", [[29.1, 1.9]]),
            sign,
        )
    )
    claim = pick(found, "Digital silence inside the recording (1)")
    assert claim.severity == severity
    assert ("encoders with loss" in claim.claim.explanation) == (severity == "benign")


def test_a_stretch_that_was_copied_elsewhere_is_told_with_both_places(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 20 * 16000)
    copied = np.concatenate([noise[: 12 * 16000], noise[3 * 16000 : 3 * 16000 + 6400], noise[12 * 16000 :]])
    read = container.read(str(wav(tmp_path / "a.wav", copied)), "wav")
    ((first, again, length),) = read.get("signal.copies")
    assert first == pytest.approx(3, abs=0.15) and again - first == pytest.approx(9, abs=0.001)
    assert 0.15 < length <= 0.4
    claim = pick(claims(read), "Sound occurs a second time, sample for sample, at 1 place")
    assert (claim.severity, claim.claim.user_category) == ("benign", "editing") and claim.remark


@pytest.mark.parametrize("kind", ["noise", "tone", "silence", "few steps"])
def test_sound_that_was_not_copied_is_not_told_to_be(kind: str, tmp_path: Path) -> None:
    chance, n = np.random.default_rng(0), 12 * 16000
    samples = {
        "noise": chance.normal(0, 0.05, n),
        "tone": 0.3 * np.sin(2 * np.pi * 997 * np.arange(n) / 16000),
        "silence": np.zeros(n),
        "few steps": chance.integers(-1, 2, n) / 32768,
    }[kind]
    assert container.read(str(wav(tmp_path / "a.wav", samples)), "wav").get("signal.copies") is None


def test_a_channel_that_is_inverted_does_not_make_silence(tmp_path: Path) -> None:
    """Channels that cancel each other were mixed to nothing, and the recording called silent throughout."""
    noise = (3000 * np.random.default_rng(0).normal(size=3 * 16000)).astype("<i2")
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 16000, 0, "NONE", ""))
        file.writeframes(np.stack([noise, -noise], axis=1).tobytes())
    read = container.read(str(path), "wav")
    assert read.get("signal.silent_s") == 0 and not [f for f in claims(read) if "silen" in f.claim.claim]


@pytest.mark.parametrize(
    ("loud", "claim"),
    [((1, 0), "Only the left channel holds sound"), ((0, 1), "Only the right channel holds sound"), ((1, 1), None)],
)
def test_a_channel_without_any_sound_is_told(loud: tuple[int, int], claim: str | None, tmp_path: Path) -> None:
    noise = (3000 * np.random.default_rng(0).normal(size=3 * 16000)).astype("<i2")
    noise[:16000] = 0  # both rest at first
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 16000, 0, "NONE", ""))
        file.writeframes(np.stack([noise * on for on in loud], axis=1).tobytes())
    findings = [f for f in claims(container.read(str(path), "wav")) if "channel" in f.claim.claim]
    assert [(f.claim.claim, f.severity) for f in findings] == ([(claim, "benign")] if claim else [])


def test_two_channels_that_hold_little_are_not_told_as_one(tmp_path: Path) -> None:
    """Both sound for some tenths of a second of a minute, and one of them a little longer."""
    both = np.zeros((16000 * 60, 2), "<i2")
    both[:9600] = 3000 * np.random.default_rng(0).normal(size=(9600, 2))
    both[:4800, 1] = 0
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((2, 2, 16000, 0, "NONE", ""))
        file.writeframes(both.tobytes())
    read = container.read(str(path), "wav")
    assert min(read.get("signal.alone_silent_s")) == 0 < max(read.get("signal.alone_silent_s"))
    assert not [f for f in claims(read) if "channel" in f.claim.claim]


def test_two_channels_that_speak_in_turn_are_not_told_to_be_one() -> None:
    turns = facts(("signal.rate_hz", 16000), ("signal.seconds", 60.0), ("signal.alone_silent_s", [29.0, 30.9]))
    assert not [f for f in claims(turns) if "channel" in f.claim.claim]


@pytest.mark.parametrize(("rate", "layout"), [(44100, "stereo"), (48000, "mono"), (22050, "mono")])
def test_sound_is_measured_on_behind_a_change_of_its_form(rate: int, layout: str, tmp_path: Path) -> None:
    """Of joined MP3 files that differ in channels nothing behind the first was measured, and not said so."""
    first = sound(tmp_path / "a.mp3", "libmp3lame", seconds=2, rate=44100)
    second = sound(tmp_path / "b.mp3", "libmp3lame", seconds=3, rate=rate, layout=layout)
    (tmp_path / "c.mp3").write_bytes(first.read_bytes() + second.read_bytes())
    read = container.read(str(tmp_path / "c.mp3"), "mp3")
    assert read.get("signal.seconds") == pytest.approx(5, abs=0.3)
    assert not [p.message for p in read.problems if p.unread]
    assert len([f for f in claims(read) if f.severity == "suspect"]) == 1


def test_of_few_jumps_no_more_are_said_to_be(tmp_path: Path) -> None:
    """Sixty are kept, most of them weak ones that are not counted."""
    jumps = [[3.0, 99.0], *([float(i), 9.0] for i in range(4, 4 + audio_signal.MOST - 1))]
    found = claims(facts(("signal.rate_hz", 44100), ("signal.seconds", 100.0), ("signal.jumps", jumps)))
    assert pick(found, "The waveform jumps").claim.claim == "The waveform jumps at 1 place"


def test_silence_at_the_ends_is_not_told(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 6 * 16000)
    noise[:6000] = noise[-6000:] = 0
    findings = claims(container.read(str(wav(tmp_path / "a.wav", noise)), "wav"))
    assert not [f for f in findings if "Digital silence" in f.claim.claim]


def test_former_codec_in_a_lossless_file(tmp_path: Path) -> None:
    rate = 44100
    noise = np.random.default_rng(0).normal(0, 0.1, 4 * rate)
    spectrum = np.fft.rfft(noise)
    spectrum[np.fft.rfftfreq(len(noise), 1 / rate) > 15000] = 0
    path = wav(tmp_path / "a.wav", np.fft.irfft(spectrum), rate)
    claim = pick(claims(container.read(str(path), "wav")), "The sound holds nothing above")
    assert claim.severity == "benign" and "decoded from MP3 or AAC" in claim.claim.explanation


@pytest.mark.parametrize(("hz", "told"), [(3400, True), (15000, False)])
def test_the_band_of_a_telephone_is_told(hz: int, told: bool) -> None:
    items = facts(
        ("stream.audio", {"codec": "pcm_s16le"}),
        ("signal.seconds", 60.0),
        ("signal.rate_hz", 8000 if told else 44100),
        ("signal.cutoff_hz", hz),
    )
    assert ("telephone line" in pick(claims(items), "The sound holds nothing above").claim.explanation) is told


@pytest.mark.parametrize("rate", [16000, 44100, 48000])
def test_sound_of_a_telephone_line_that_a_converter_brought_to_a_higher_rate_is_told(rate: int, tmp_path: Path) -> None:
    """Its edge was said to lie at 5000 Hz, which no telephone reaches."""
    samples = (3000 * np.random.default_rng(0).normal(size=4 * 8000)).astype("<i2")
    frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
    frame.sample_rate = 8000
    higher = av.AudioResampler(format="s16", layout="mono", rate=rate).resample(frame)[0].to_ndarray()[0]
    found = claims(container.read(str(wav(tmp_path / "a.wav", higher / 32768, rate)), "wav"))
    assert "telephone line" in pick(found, "The sound holds nothing above").claim.explanation


def test_wrong_sizes_are_malformed(tmp_path: Path) -> None:
    path = wav(tmp_path / "a.wav", np.random.default_rng(0).normal(0, 0.05, 16000))
    path.write_bytes(path.read_bytes()[:-999])
    assert pick(claims(container.read(str(path), "wav")), "malformed").severity == "suspect"


def rising_and_falling(seed: int) -> np.ndarray:
    """Return float samples of noise that rises and falls."""
    shaped = np.convolve(np.random.default_rng(seed).normal(size=6 * 16000), np.ones(6) / 6, mode="same")
    return np.asarray(0.2 * shaped * (1 + np.sin(np.arange(6 * 16000) / 3000)))


def through_aac(path: Path, samples: np.ndarray, *, kbps: int = 24) -> np.ndarray:
    """Return float samples encoded as AAC and decoded."""
    with av.open(str(path), "w") as output:
        stream = output.add_stream("aac", rate=16000)
        stream.layout, stream.bit_rate = "mono", 1000 * kbps
        for at in range(0, len(samples), 1024):
            frame = av.AudioFrame.from_ndarray(samples[None, at : at + 1024].astype(np.float32), "fltp", "mono")
            frame.sample_rate, frame.pts = 16000, at
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    with av.open(str(path)) as opened:
        return np.concatenate([f.to_ndarray()[0] for f in opened.decode(opened.streams.audio[0])])


def test_sound_that_was_aac_and_a_join_of_it(tmp_path: Path) -> None:
    first, second = (through_aac(tmp_path / f"{seed}.m4a", rising_and_falling(seed)) for seed in (1, 2))
    findings = claims(container.read(str(wav(tmp_path / "a.wav", first[700:])), "wav"))
    assert pick(findings, "sound was AAC before").severity == "benign"
    assert not [f for f in findings if "cut or joined" in f.claim.claim]
    joined = np.concatenate([first[700:60000], second[321:]])
    claim = pick(claims(container.read(str(wav(tmp_path / "b.wav", joined)), "wav")), "cut or joined")
    assert claim.severity == "suspect" and "FILE_EDITED" in claim.flags


@pytest.mark.parametrize(
    ("first", "second", "is_cut"),
    [(764, 763, False), (764, 766, False), (1023, 0, False), (764, 767, True), (764, 252, True)],
)
def test_places_within_the_width_of_a_peak_are_one_grid(first: int, second: int, is_cut: bool) -> None:
    grid = [[0.0, 1.5, first, 20.0, 3.0], [1.5, 3.0, second, 20.0, 3.0]]
    found = claims(facts(("signal.rate_hz", 44100), ("signal.grid", grid)))
    assert any("cut or joined" in f.claim.claim for f in found) == is_cut


def test_sound_that_was_aac_twice_is_not_called_cut(tmp_path: Path) -> None:
    """Now the grid of the one encoder stands out, now that of the other; both are in the same stretch."""
    once = through_aac(tmp_path / "a.m4a", rising_and_falling(1), kbps=16)
    twice = through_aac(tmp_path / "b.m4a", once[700:], kbps=32)[300:]
    read = container.read(str(wav(tmp_path / "a.wav", twice)), "wav")
    assert len({row[2] for row in read.get("signal.grid") or ()}) > 1
    found = claims(read)
    assert pick(found, "sound was AAC before") and not [f for f in found if "cut or joined" in f.claim.claim]


def test_sound_that_never_was_aac_has_no_grid(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 6 * 16000)
    findings = claims(container.read(str(wav(tmp_path / "a.wav", noise)), "wav"))
    assert not [f for f in findings if "AAC" in f.claim.claim]


def test_dialling_tones_are_no_grid_of_an_encoder(tmp_path: Path) -> None:
    chance = np.random.default_rng(0)
    samples = chance.normal(0, 1e-4, 44100 * 16)
    for at in range(0, len(samples), 11025):
        tones = chance.choice([697, 770, 852, 941]), chance.choice([1209, 1336, 1477])
        samples[at : at + 6615] += sum(0.3 * np.sin(2 * np.pi * f * np.arange(at, at + 6615) / 44100) for f in tones)
    findings = claims(container.read(str(wav(tmp_path / "a.wav", samples, 44100)), "wav"))
    assert not [f for f in findings if "AAC" in f.claim.claim or f.severity != "benign"]


def test_sound_behind_the_sound(tmp_path: Path) -> None:
    """Two files one behind the other, and one file with a second chunk of samples."""
    noise = np.random.default_rng(0).normal(0, 0.05, 16000)
    first = wav(tmp_path / "a.wav", noise).read_bytes()
    chunk = first[first.index(b"data") :]
    inside = first + chunk
    inside = inside[:4] + (len(inside) - 8).to_bytes(4, "little") + inside[8:]
    for name, data, at in (("b.wav", first + first, len(first) + first.index(b"data")), ("c.wav", inside, len(first))):
        (tmp_path / name).write_bytes(data)
        finding = pick(claims(container.read(str(tmp_path / name), "wav")), "2 pieces of sound")
        assert finding.severity == "suspect"
        assert [f.offset for f in finding.facts] == [at]
