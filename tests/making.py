"""Media that tests make for themselves: small, deterministic, in every format that forensix reads."""

import struct
import zlib
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image, ImageDraw

VIDEO_CODECS = {
    "mp4": "libx264",
    "mov": "libx264",
    "m4v": "libx264",
    "mkv": "libx264",
    "flv": "libx264",
    "avi": "mpeg4",
    "webm": "libvpx-vp9",
    "3gp": "mpeg4",
}
AUDIO_CODECS = {
    **dict.fromkeys(("mp4", "mov", "m4v", "mkv", "flv", "3gp", "m4a", "aac"), "aac"),
    "mp3": "libmp3lame",
    **dict.fromkeys(("webm", "ogg"), "libopus"),
    **dict.fromkeys(("wav", "avi"), "pcm_s16le"),
    "flac": "flac",
}
_MUXERS = {"mkv": "matroska", "m4v": "mp4", "m4a": "ipod", "aac": "adts"}
_BRANDS = {"m4v": b"M4V ", "m4a": b"M4A "}
_IMAGE_PLUGINS = {"jpg": "JPEG", "jpeg": "JPEG", "jfif": "JPEG", "tif": "TIFF", "heic": "HEIF"}


def tone(seconds: float, hz: float = 220.0, rate: int = 16_000, level: float = 0.3) -> np.ndarray:
    """Return a sine, int16 (n,)."""
    at = np.arange(round(seconds * rate)) / rate
    return (32767 * level * np.sin(2 * np.pi * hz * at)).astype(np.int16)


def picture(width: int = 320, height: int = 240, *, shift: int = 0) -> np.ndarray:
    """Return uint8 (H, W, 3): a smooth pattern that moves with ``shift``; its top left quarter is red, the rest not."""
    y, x = np.mgrid[0:height, 0:width].astype(float)
    wave = 64 + 40 * np.sin((x + 3 * shift) / 17) + 20 * np.cos(y / 11)
    rgb = np.stack([wave, wave + 10, wave + 30], axis=2)
    rgb[: height // 2, : width // 2, 0] = 220
    return rgb.clip(0, 255).astype(np.uint8)


def write_video(
    path: str | Path,
    n_frames: int = 30,
    size: tuple[int, int] = (320, 240),
    rate: int | Fraction = 25,
    *,
    audio: np.ndarray | None = None,
    audio_rate: int = 16_000,
    codec: str | None = None,
    container: str | None = None,
    paint: Callable[[int], np.ndarray] | None = None,
    rotation: int = 0,
    pixel_ratio: Fraction | None = None,
    options: dict[str, str] | None = None,
) -> Path:
    """Write a video in ``container`` (by default what the suffix says) and return its path.

    ``audio`` is int16 mono at ``audio_rate``; ``paint`` gives the uint8 (H, W, 3) of a frame; ``rotation`` is what a
    player is told to turn by, in degrees counter-clockwise, ``pixel_ratio`` how many times as wide as high pixels are;
    ``options`` go to the video encoder.
    """
    path = Path(path)
    container = container or path.suffix[1:].lower()
    codec = codec or VIDEO_CODECS[container]
    paint = paint or (lambda index: picture(*size, shift=index))
    with av.open(str(path), "w", format=_MUXERS.get(container, container), options=_brand(container)) as output:
        video: Any = output.add_stream(codec, rate=Fraction(rate))
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        video.options = options or ({"cpu-used": "8", "deadline": "realtime"} if "vp" in codec else {})
        video.codec_context.thread_count = 1
        if pixel_ratio is not None:
            video.codec_context.sample_aspect_ratio = pixel_ratio
        if rotation:
            video.set_display_rotation(rotation)
        sound = _add_audio(output, container, audio_rate) if audio is not None else None
        for index in range(n_frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(paint(index)), format="rgb24")
            output.mux(video.encode(frame))
        output.mux(video.encode(None))
        if sound is not None and audio is not None:
            _encode_audio(output, sound, audio, audio_rate)
    return path


def write_audio(
    path: str | Path,
    samples: np.ndarray | None = None,
    rate: int = 16_000,
    *,
    codec: str | None = None,
    container: str | None = None,
) -> Path:
    """Write int16 mono samples (by default a second of tone) in ``container`` and return the path."""
    path = Path(path)
    samples = tone(1.0, rate=rate) if samples is None else samples
    container = container or path.suffix[1:].lower()
    if container == "pcm":
        path.write_bytes(samples.astype("<i2").tobytes())
        return path
    with av.open(str(path), "w", format=_MUXERS.get(container, container), options=_brand(container)) as output:
        sound = _add_audio(output, container, rate, codec)
        _encode_audio(output, sound, samples, rate)
    return path


def write_streams(
    path: Path,
    *,
    videos: Sequence[tuple[int, int]] = (),
    sounds: Sequence[np.ndarray] = (),
    cover: np.ndarray | None = None,
    default: int = 0,
) -> Path:
    """Write a second of video of each size and the sounds, int16 (n,) at 16 kHz, as streams of one file.

    ``default`` is the number of the video that a player is told to start with; ``cover`` is attached as a picture.
    """
    container = path.suffix[1:]
    with av.open(str(path), "w", format=_MUXERS.get(container, container)) as output:
        films: list[Any] = [output.add_stream("libx264", rate=25) for _ in videos]
        heard = [_add_audio(output, container, 16_000) for _ in sounds]
        attached: Any = output.add_stream("png") if cover is not None else None
        for index, (film, size) in enumerate(zip(films, videos, strict=True)):
            film.width, film.height, film.pix_fmt = *size, "yuv420p"
            film.codec_context.thread_count = 1
            film.disposition = av.stream.Disposition.default if index == default else av.stream.Disposition(0)
        if cover is not None:
            attached.height, attached.width, attached.pix_fmt = *cover.shape[:2], "rgb24"
            attached.disposition = av.stream.Disposition.attached_pic
            output.mux(attached.encode(av.VideoFrame.from_ndarray(cover, format="rgb24")))
        for film, size in zip(films, videos, strict=True):
            for index in range(25):
                output.mux(film.encode(av.VideoFrame.from_ndarray(picture(*size, shift=index), format="rgb24")))
            output.mux(film.encode(None))
        for sound, samples in zip(heard, sounds, strict=True):
            _encode_audio(output, sound, samples, 16_000)
    return path


def retimed(path: Path, target: Path, later_s: Callable[[str, float], float]) -> Path:
    """Write a file anew with its packets later by ``later_s`` of their kind of stream and their time in seconds."""
    with av.open(str(path)) as source, av.open(str(target), "w") as output:
        streams: dict[int, Any] = {
            stream.index: output.add_stream_from_template(stream, opaque=True) for stream in source.streams
        }
        packets = [packet for packet in source.demux() if packet.dts is not None]
        for packet in packets:
            delay = later_s(packet.stream.type, float(packet.pts * packet.time_base))
            packet.pts, packet.dts = (round(at + delay / packet.time_base) for at in (packet.pts, packet.dts))
        for packet in sorted(packets, key=lambda packet: packet.dts * packet.time_base):
            packet.stream = streams[packet.stream_index]
            output.mux(packet)
    return target


def write_image(
    path: str | Path, image: np.ndarray | Image.Image | None = None, *, container: str | None = None, **options: Any
) -> Path:
    """Write an image with Pillow (``options`` go to its encoder) and return the path."""
    path = Path(path)
    container = container or path.suffix[1:].lower()
    plugin = _IMAGE_PLUGINS.get(container, container.upper())
    if plugin == "HEIF":
        import pillow_heif

        pillow_heif.register_heif_opener()
    if image is None:
        image = picture()
    drawn = Image.fromarray(image) if isinstance(image, np.ndarray) else image
    drawn.save(path, format=plugin, **options)
    return path


def png_chunk(name: bytes, body: bytes) -> bytes:
    """Return a chunk of a PNG with its checksum."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def raw_png(width: int, height: int, rows: bytes = b"", *, bits: int = 8) -> bytes:
    """Return a PNG of three colours whose header says its size, and whose rows may hold less than that."""
    header = png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")


def write_pdf(
    path: str | Path, n_pages: int = 1, *, info: dict[str, str] | None = None, password: str | None = None
) -> Path:
    """Write a PDF of empty A4 pages, with document information and a password to open it where given."""
    import pikepdf

    path = Path(path)
    with pikepdf.new() as document:
        for _ in range(n_pages):
            document.add_blank_page(page_size=(595, 842))
        for key, value in (info or {}).items():
            document.docinfo[f"/{key}"] = value
        encryption = pikepdf.Encryption(owner=password, user=password) if password else False
        document.save(path, encryption=encryption)
    return path


def _brand(container: str) -> dict[str, str]:
    return {"brand": _BRANDS[container].decode()} if container in _BRANDS else {}


def _add_audio(output: Any, container: str, rate: int, codec: str | None = None) -> Any:
    codec = codec or AUDIO_CODECS[container]
    # Opus knows 48 kHz and its fractions only, and FLV only those of MP3.
    rate = 48_000 if codec == "libopus" else 44_100 if container == "flv" else rate
    sound = output.add_stream(codec, rate=rate)
    sound.layout = "mono"
    return sound


def _encode_audio(output: Any, sound: Any, samples: np.ndarray, rate: int) -> None:
    context = sound.codec_context
    resampler = av.AudioResampler(
        format=context.format.name if context.format else "s16", layout="mono", rate=context.sample_rate
    )
    fifo = av.AudioFifo()
    frame = av.AudioFrame.from_ndarray(samples.astype(np.int16)[None, :], format="s16", layout="mono")
    frame.sample_rate = rate
    for part in [*resampler.resample(frame), *resampler.resample(None)]:
        part.pts = None
        fifo.write(part)
    size = context.frame_size or 1024
    at = 0
    while part := fifo.read(size, partial=True):
        part.pts, part.time_base = at, Fraction(1, context.sample_rate)
        at += part.samples
        output.mux(sound.encode(part))
    output.mux(sound.encode(None))


def drawn_scene(width: int = 640, height: int = 512) -> Image.Image:
    """Return a drawn landscape: shaded areas with outlines, as in comics."""
    down, across = np.mgrid[:height, :width].astype(float)
    sky = np.stack([120 + 100 * down / height, 180 + 40 * down / height, 255 - 60 * down / height], axis=2)
    image = Image.fromarray(sky.clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for nth, colour in enumerate([(90, 170, 80), (60, 140, 70), (40, 110, 60)]):
        level, length = height * (0.55 + 0.12 * nth), 60 - 12 * nth
        ridge = [(left, level + 30 * np.sin(left / length + nth)) for left in range(0, width + 8, 8)]
        draw.polygon([*ridge, (width, height), (0, height)], fill=colour)
        draw.line(ridge, fill=(20, 40, 20), width=5)
    for left, top, radius, colour in ((150, 120, 60, (250, 210, 90)), (420, 330, 95, (240, 190, 170))):
        box = (left - radius, top - radius, left + radius, top + radius)
        draw.ellipse(box, fill=colour, outline=(30, 20, 20), width=5)
    shaded = np.asarray(image) * (0.85 + 0.15 * np.sin(across / 90)[..., None])
    return Image.fromarray(shaded.clip(0, 255).astype(np.uint8))
