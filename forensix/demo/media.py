"""Media that are made on the spot, from pictures in installed packages and from computed speech.

The pictures are matplotlib's ``grace_hopper.jpg``, scikit-learn's ``china.jpg`` and scikit-image's astronaut. The rest
is made from them: swapped faces, a video of a moving face, speech from the formant synthesiser inside Praat, and a PDF
whose amount was painted over in a second version.
"""

import io
import struct
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image

SPEECH = "This voice was never recorded. A program made it from text, and every sound in it was computed."
RATE_HZ = 44100
FRAME_RATE_HZ = 25
N_FRAMES = 100
SWAP_SEED = 1


def make_pictures(folder: Path) -> Iterator[Path]:
    """Write a portrait with its original bytes, a scene, and the portrait with another person's face."""
    import matplotlib.cbook
    import sklearn.datasets

    portrait = Path(matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)).read_bytes()
    (folder / "portrait.jpg").write_bytes(portrait)
    yield folder / "portrait.jpg"
    scene = Path(sklearn.datasets.__file__).parent / "images" / "china.jpg"
    (folder / "scene.jpg").write_bytes(scene.read_bytes())
    yield folder / "scene.jpg"
    Image.fromarray(swapped()).save(folder / "face-swap.jpg", quality=90)
    yield folder / "face-swap.jpg"


def make_sharp_swap(folder: Path) -> Iterator[Path]:
    """Write the same swap, with the new face in all its detail."""
    Image.fromarray(swapped(keep_detail=True)).save(folder / "face-swap-sharp.jpg", quality=90)
    yield folder / "face-swap-sharp.jpg"


def make_edited_picture(folder: Path) -> Iterator[Path]:
    """Write a scene that was cropped and in which an area was copied, with the preview of the scene as it was."""
    import sklearn.datasets

    scene = Image.open(Path(sklearn.datasets.__file__).parent / "images" / "china.jpg").convert("RGB")
    small = scene.copy()
    small.thumbnail((160, 160))
    preview = io.BytesIO()
    small.save(preview, "JPEG", quality=80)
    edited = scene.crop((280, 60, 640, 427))
    edited.paste(edited.crop((20, 150, 130, 260)), (215, 10))
    edited.save(
        folder / "edited.jpg", quality=88, exif=_exif(b"GIMP 2.10.36", b"2026:03:02 09:15:00", preview.getvalue())
    )
    yield folder / "edited.jpg"


def _exif(software: bytes, date: bytes, preview: bytes) -> bytes:
    """Return an EXIF block that names a program and a date in its first directory and holds a preview in its second."""
    texts = [(0x0131, software + b"\0"), (0x0132, date + b"\0")]
    first = 8
    second = first + 2 + 12 * len(texts) + 4
    at = second + 2 + 12 * 2 + 4
    entries, values = b"", b""
    for tag, text in texts:
        entries += struct.pack("<HHII", tag, 2, len(text), at + len(values))
        values += text
    place = at + len(values)
    block = struct.pack("<2sHIH", b"II", 42, first, len(texts)) + entries + struct.pack("<IH", second, 2)
    block += struct.pack("<HHII", 0x0201, 4, 1, place) + struct.pack("<HHII", 0x0202, 4, 1, len(preview))
    return b"Exif\0\0" + block + bytes(4) + values + preview


def make_video(folder: Path) -> Iterator[Path]:
    """Write a video in which a face moves over a background, with synthetic speech as its sound."""
    import av

    face = Image.fromarray(_astronaut()[0:300, 90:390]).resize((200, 200))
    scene = Image.open(folder / "scene.jpg").convert("RGB").resize((640, 426)).crop((0, 0, 640, 424))
    path = folder / "moving-face.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FRAME_RATE_HZ, options={"crf": "23"})
        video.width, video.height, video.pix_fmt = 640, 424, "yuv420p"
        audio = container.add_stream("aac", rate=RATE_HZ, layout="mono")
        for i in range(N_FRAMES):
            frame = scene.copy()
            frame.paste(face, (20 + 4 * i, 110 + round(60 * np.sin(i / 12))))
            container.mux(video.encode(av.VideoFrame.from_image(frame)))
        container.mux(video.encode())
        voice = synthesise(SPEECH)[: RATE_HZ * N_FRAMES // FRAME_RATE_HZ]
        sound = av.AudioFrame.from_ndarray(voice[None], format="s16", layout="mono")
        sound.sample_rate, sound.pts, sound.time_base = RATE_HZ, 0, Fraction(1, RATE_HZ)
        container.mux(audio.encode(sound))
        container.mux(audio.encode())
    yield path


def make_swapped_video(folder: Path) -> Iterator[Path]:
    """Write a video of a portrait that moves, whose face is another person's from the second half on."""
    import av

    portrait, _, swapped = (Image.open(path).convert("RGB") for path in make_pictures(folder))
    path = folder / "swapped-half.mp4"
    with av.open(str(path), "w") as container:
        video = container.add_stream("libx264", rate=FRAME_RATE_HZ, options={"crf": "20"})
        video.width, video.height, video.pix_fmt = 480, 560, "yuv420p"
        for i in range(N_FRAMES):
            left, top = 16 + round(16 * np.sin(i / 9)), 10 + round(10 * np.cos(i / 13))
            picture = portrait if i < N_FRAMES // 2 else swapped
            frame = av.VideoFrame.from_image(picture.crop((left, top, left + 480, top + 560)))
            container.mux(video.encode(frame))
        container.mux(video.encode())
    yield path


def make_recording(folder: Path) -> Iterator[Path]:
    """Write synthetic speech."""
    from scipy.io import wavfile

    path = folder / "synthetic-speech.wav"
    wavfile.write(path, RATE_HZ, synthesise(SPEECH))
    yield path


def make_voices(folder: Path) -> Iterator[Path]:
    """Write speech of a formant synthesiser, and the same rebuilt from its mel spectrogram, as early neural TTS did."""
    from scipy.io import wavfile
    from scipy.signal import resample_poly

    from forensix.training.voice.synthesis import mel_griffin_lim

    voice = resample_poly(synthesise(SPEECH) / 32768, 160, 441).astype(np.float32)
    rebuilt = mel_griffin_lim(voice.copy(), np.random.default_rng(0))
    for name, samples in (("rebuilt-speech", rebuilt), ("formant-speech", voice)):
        wavfile.write(folder / f"{name}.wav", 16000, (np.clip(samples, -1, 1) * 32767).astype(np.int16))
        yield folder / f"{name}.wav"


def make_cut_recording(folder: Path) -> Iterator[Path]:
    """Write synthetic speech in a quiet room in which a stretch was overwritten with nothing."""
    from scipy.io import wavfile

    room = np.random.default_rng(0).normal(0, 40, len(voice := synthesise(SPEECH)))
    recorded = np.clip(voice + room, -32768, 32767).astype(np.int16)
    recorded[RATE_HZ : RATE_HZ + RATE_HZ // 2] = 0
    path = folder / "cut-speech.wav"
    wavfile.write(path, RATE_HZ, recorded)
    yield path


def make_document(folder: Path) -> Iterator[Path]:
    """Write a PDF, then paint over its amount in an incremental update."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure
    from pyhanko.pdf_utils import generic
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

    page = Figure(figsize=(5, 3))
    page.text(0.1, 0.8, "Invoice", size=20)
    page.text(0.1, 0.5, "Amount due: 100.00", size=14)
    buffer = io.BytesIO()
    with PdfPages(buffer) as pages:
        pages.savefig(page)
    writer = IncrementalPdfFileWriter(buffer)
    name = generic.pdf_name
    font = generic.DictionaryObject(
        {name("/Type"): name("/Font"), name("/Subtype"): name("/Type1"), name("/BaseFont"): name("/Helvetica")}
    )
    resources = generic.DictionaryObject(
        {name("/Font"): generic.DictionaryObject({name("/Edit"): writer.add_object(font)})}
    )
    overlay = b"q 1 1 1 rg 30 95 250 30 re f Q BT /Edit 14 Tf 36 108 Td (Amount due: 900.00) Tj ET"
    writer.add_stream_to_page(0, writer.add_object(generic.StreamObject(stream_data=overlay)), resources=resources)
    writer.write_in_place()
    path = folder / "edited.pdf"
    path.write_bytes(buffer.getvalue())
    yield path


def synthesise(text: str, voice: str = "Female1") -> np.ndarray:
    """Return speech for a text from the formant synthesiser that Praat carries: int16 mono at ``RATE_HZ``."""
    from parselmouth.praat import call

    parts = call(call("Create SpeechSynthesizer", "English (Great Britain)", voice), "To Sound", text, "no")
    sound = parts[0] if isinstance(parts, list) else parts
    return np.asarray(np.clip(sound.values[0], -1, 1) * 32767, dtype=np.int16)


def _astronaut() -> np.ndarray:
    import skimage.data

    rgb: np.ndarray = skimage.data.astronaut()
    return rgb


def swapped(seed: int = SWAP_SEED, *, keep_detail: bool = False, back: bool = False) -> np.ndarray:
    """Return the portrait with the astronaut's face, uint8 (H, W, 3); ``back`` puts the portrait's on the astronaut.

    ``keep_detail`` leaves the new face as sharp as it was, instead of the lower resolution that programs work at.
    """
    import matplotlib.cbook

    from forensix.demo.swap import Face, swap
    from forensix.faces.detect import detect

    def face(rgb: np.ndarray) -> Face:
        faces = detect([rgb])[0]
        return Face(rgb, faces.landmarks[0], faces.boxes[0])

    path = matplotlib.cbook.get_sample_data("grace_hopper.jpg", asfileobj=False)
    pair = [face(np.asarray(Image.open(path).convert("RGB"))), face(_astronaut())]
    target, donor = reversed(pair) if back else pair
    return swap(target, donor, np.random.default_rng(seed), keep_detail=keep_detail)[0]
