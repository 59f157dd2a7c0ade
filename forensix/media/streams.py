"""Decode video and audio with PyAV; runs in the sandbox.

The container is opened as the one format that was sniffed, from a file object, with every protocol refused: a playlist
or a reference inside cannot make ffmpeg open anything else. Files are decoded through rather than sought in: cheaper
for evenly spaced frames, and the only way to true frame numbers. Damaged packets are left out and counted.
"""

import mmap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import av
from av.sidedata.sidedata import Type
from av.video.reformatter import VideoReformatter

from forensix.errors import BrokenMedia, LimitExceeded, UnsupportedMedia
from forensix.media import tags
from forensix.media.channels import Apart, Opposed, mixed
from forensix.media.length import counted_s, length_s, missing_s, stated_s
from forensix.media.levels import Lowered, is_float, peak_of
from forensix.media.packets import Bridge, Clock, Decoding, Pauses, packed, resampled
from forensix.media.played import codec_name, decodable, in_order, late_s
from forensix.media.tones import as_sdr, hdr_curve, is_wide

if TYPE_CHECKING:
    import numpy as np

SAMPLE_RATE_HZ = 16_000
_DEMUXERS = {
    **dict.fromkeys(("mp4", "mov", "m4v", "3gp", "m4a", "heif"), "mov"),
    **dict.fromkeys(("mkv", "webm"), "matroska"),
    **{slug: slug for slug in ("flv", "avi", "wav", "mp3", "ogg", "aac", "flac")},
    "pcm": "s16le",
}
FOLLOWING, FOLLOWING_MS = 2, 30.0
"""How many frames may follow one, at least so far apart: a frame of 25 or 30 a second, every other of 50 or 60."""
MOST_STRETCHED = 4.0
"""Width of a pixel by its height, or the other way round, up to which it is believed."""
_CHUNK_SAMPLES = 1 << 16
_SLACK_S = 1.0
"""Encoders pad; a file of exactly the longest duration must pass."""

av.logging.set_level(None)


def probe(source: dict[str, str], limits: dict[str, float]) -> dict[str, Any]:
    """Return what the header says, as the fields of ``MediaInfo``, and enforce the limits on it.

    One frame is decoded where that works, for the orientation, which few containers tell otherwise.
    """
    name = source["name"]
    _check_tags(source)
    with open(source["path"], "rb") as file, open_container(file, source) as container:
        videos, sounds = decodable(container.streams.video), decodable(container.streams.audio)
        video, audio = next(iter(videos), None), next(iter(sounds), None)
        if video is None and audio is None:
            raise BrokenMedia(f"{name} holds neither pictures nor sound that can be decoded")
        duration_s = length_s(source, container, video or audio)
        if duration_s is None:
            with open(source["path"], "rb") as again, open_container(again, source) as whole:
                counted = counted_s(whole)
            # Time stamps that jump so far may mean no time: what is longer is refused as it is decoded.
            longest_s = limits["audio_s" if video is None else "video_s"]
            duration_s = counted if counted and counted <= longest_s else None
        info: dict[str, Any] = {
            "duration_s": duration_s,
            "has_video": video is not None,
            "has_audio": audio is not None,
            "n_video_streams": len(videos),
            "n_audio_streams": len(sounds),
            "n_unread_video_streams": len(in_order(container.streams.video)) - len(videos) or None,
            "n_unread_audio_streams": len(container.streams.audio) - len(sounds) or None,
        }
        if audio is not None:
            info |= {
                "sample_rate_hz": audio.codec_context.sample_rate or None,
                "channels": audio.codec_context.channels or None,
                "audio_codec": codec_name(audio),
            }
        if video is not None:
            context = video.codec_context
            width, height = context.width or None, context.height or None
            _check_size(width or 0, height or 0, name, limits)
            frame = _first_frame(container, video)
            # Where there is no frame, what is guessed is how finely time is counted.
            rate = video.average_rate or (video.guessed_rate if frame is not None else None)
            info |= {
                "video_codec": codec_name(video),
                "frame_rate_hz": float(rate) if rate else None,
                "n_frames": video.frames or None,
            }
            if frame is not None:
                width, height = frame.width, frame.height
            if width and height:
                width, height = _shown_size(width, height, video)
                _check_size(width, height, name, limits)
                if frame is not None and _turn(frame) % 180:
                    width, height = height, width
            info |= {"width_px": width, "height_px": height}
        _check_duration(duration_s or 0, video is not None, name, limits)
    return info


def frames(
    source: dict[str, str],
    limits: dict[str, float],
    rate_hz: float | None,
    max_side_px: int | None,
    follow_s: float | None = None,
) -> Iterator[Any]:
    """Yield ``[index, ms, rgb, scale, following]`` for each frame kept, and the list of warnings last.

    Pixels that are not square are made so, as players do, and HDR is shown as SDR (`forensix.media.tones`). All frames
    have the size of the first, so that boxes mean the same throughout. Every ``follow_s`` a frame waits for `FOLLOWING`
    others, or until the next one is due.
    """
    name, warnings = source["name"], list[str]()
    with open(source["path"], "rb") as file, open_container(file, source) as container:
        video = next(iter(decodable(container.streams.video)), None)
        if video is None:
            if in_order(container.streams.video):
                raise UnsupportedMedia(f"the pictures of {name} are of a codec that cannot be decoded here")
            raise UnsupportedMedia(f"{name} has no pictures, only sound")
        reformatter = VideoReformatter()
        decoding = Decoding(container, video)
        late = late_s(container, video)
        clock = Clock(video, late)
        size: tuple[int, int] | None = None
        scale, next_ms, last_ms, follow_ms = 1.0, 0.0, 0.0, 0.0
        looked_at, resized, curve = 0, 0, ""
        waiting, waited_ms = list[Any](), 0.0
        for index, frame in decoding:
            last_ms = clock.ms(frame, index)
            _check_duration(last_ms / 1000, True, name, limits)
            if waiting and size and last_ms - waited_ms >= FOLLOWING_MS:
                _check_size(frame.width, frame.height, name, limits)
                waiting[-1].append(_rgb(reformatter, frame, size))
                waited_ms = last_ms
                if len(waiting[-1]) == FOLLOWING:
                    yield waiting
                    waiting = []
            if rate_hz and last_ms + clock.half_frame_ms < next_ms:
                continue
            if rate_hz:
                step_ms = 1000 / rate_hz
                next_ms = next_ms + step_ms if last_ms < next_ms + step_ms else last_ms + step_ms
            _check_size(frame.width, frame.height, name, limits)
            if size is None:
                width, height = _shown_size(frame.width, frame.height, video)
                _check_size(width, height, name, limits)
                longer = max(width, height)
                scale = longer / max_side_px if max_side_px and longer > max_side_px else 1.0
                size = max(1, round(width / scale)), max(1, round(height / scale))
                first = frame.width, frame.height
            looked_at += 1
            resized += (frame.width, frame.height) != first
            curve = curve or hdr_curve(frame.color_trc)
            if waiting:
                yield [*waiting[:-1], []]
            waiting, waited_ms = [index, last_ms, _rgb(reformatter, frame, size), scale, []], last_ms
            if follow_s and last_ms + clock.half_frame_ms >= follow_ms:
                follow_ms = max(follow_ms, last_ms) + 1000 * follow_s
            else:
                yield waiting
                waiting = []
        if waiting:
            yield [*waiting[:-1], []]
        if size is None:
            raise _ended(name) if decoding.is_empty else BrokenMedia(f"{name} holds no frame that can be decoded")
        if resized:
            warning = f"the picture size changes in {resized} of the {looked_at} frames looked at"
            warnings.append(f"{warning}; they are shown in the size of the first")
        if curve:
            warnings.append(f"the video is HDR ({curve}); it is looked at with its tones mapped to ordinary ones")
        left_s = missing_s(source, container, video, clock.ends_ms / 1000 - late, decoding.ends_s)
        warnings += decoding.warnings("frame", left_s)
    yield warnings


def samples(source: dict[str, str], limits: dict[str, float]) -> Iterator[Any]:
    """Yield int16 mono chunks at 16 kHz of the audio that a player starts with, and the list of warnings last."""
    import numpy as np

    name, n_samples = source["name"], 0
    with open(source["path"], "rb") as file, open_container(file, source) as container:
        audio = next(iter(decodable(container.streams.audio)), None)
        if audio is None:
            if container.streams.audio:
                raise UnsupportedMedia(f"the sound of {name} is of a codec that cannot be decoded here")
            raise UnsupportedMedia(f"{name} has no sound")
        has_video = bool(decodable(container.streams.video))
        late, limit_s = late_s(container, audio), limits["video_s" if has_video else "audio_s"]
        peak = 0.0
        if is_float(audio):
            # Decoded twice: the peak is known only at the end, and all is too long to be held.
            with open(source["path"], "rb") as again, open_container(again, source) as whole:
                peak = peak_of(whole, whole.streams[audio.index], limit_s + _SLACK_S)
        pauses = Pauses(audio, late, (stated_s(source, container, audio) or limit_s) + _SLACK_S)
        decoding, bridge, lowered = Decoding(container, audio), Bridge(), Lowered(peak)
        apart, opposed = Apart(), Opposed()
        waiting: list[np.ndarray] = []
        n_waiting = 0
        sound = pauses.filled(packed(frame for _, frame in decoding))
        heard = (mixed(opposed.over(apart.over(lowered.over(bridge.over(frame))))) for frame in sound)
        for chunk in resampled(heard, "s16", SAMPLE_RATE_HZ):
            waiting.append(chunk)
            n_waiting += chunk.size
            n_samples += chunk.size
            if n_waiting >= _CHUNK_SAMPLES:
                _check_duration(n_samples / SAMPLE_RATE_HZ, has_video, name, limits)
                yield np.concatenate(waiting)
                waiting, n_waiting = [], 0
        if not n_samples:
            raise _ended(name) if decoding.is_empty else BrokenMedia(f"{name} holds no sound that can be decoded")
        _check_duration(n_samples / SAMPLE_RATE_HZ, has_video, name, limits)
        if waiting:
            yield np.concatenate(waiting)
        left_s = missing_s(source, container, audio, n_samples / SAMPLE_RATE_HZ - late, decoding.ends_s)
    warnings = decoding.warnings("piece of sound", left_s) + pauses.warnings() + bridge.warnings()
    yield warnings + lowered.warnings() + opposed.warnings() + apart.warnings()


def open_container(file: BinaryIO, source: dict[str, str]) -> Any:
    """Open a container with the one demuxer of its format, and no protocol; ``source`` as `Media.for_decoder` tells."""
    slug, name = source["slug"], source["name"]
    demuxer = _DEMUXERS[slug]
    options = {"protocol_whitelist": "none", "format_whitelist": demuxer}
    if slug == "pcm":
        options |= {"sample_rate": str(SAMPLE_RATE_HZ), "ch_layout": "mono"}
    if demuxer == "mov":
        options |= {"enable_drefs": "0", "use_absolute_path": "0"}
    try:
        return av.open(file, mode="r", format=demuxer, container_options=options, metadata_errors="replace")
    except av.error.EOFError as error:
        raise _ended(name) from error
    except (av.error.FFmpegError, ValueError) as error:
        raise BrokenMedia(
            f"{name} is damaged: its {slug} header cannot be read, as when a file was cut short"
        ) from error


def _ended(name: str) -> BrokenMedia:
    return BrokenMedia(
        f"{name} holds no pictures or sound of its own, as the first piece of a stream that is sent in pieces, a file"
        " that was cut short, or one that refers to another file"
    )


def _shown_size(width: int, height: int, video: Any) -> tuple[int, int]:
    """Return the size of a stored frame with square pixels, before it is turned: wider or higher, so that none is lost.

    DVD and DV stretch 720 pixels over 16:9. Ratios that no standard has are taken for damage.
    """
    ratio = float(video.sample_aspect_ratio or 1)
    if not 1 / MOST_STRETCHED <= ratio <= MOST_STRETCHED:
        return width, height
    return (round(width * ratio), height) if ratio >= 1 else (width, round(height / ratio))


def _first_frame(container: Any, video: Any) -> Any:
    video.codec_context.thread_count = 1
    try:
        for n_packets, packet in enumerate(container.demux(video)):
            try:
                for frame in packet.decode():
                    return frame
            except av.error.FFmpegError:
                pass
            if n_packets > 64:
                break
    except av.error.FFmpegError:
        pass
    return None


def _check_tags(source: dict[str, str]) -> None:
    """Raise `BrokenMedia` for a file with so many tags that opening it takes minutes."""
    with open(source["path"], "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if tags.are_too_many(data):
            raise BrokenMedia(
                f"{source['name']} holds more than {tags.MOST} tags, which take too long to read; remove them first"
            )


def _check_duration(seconds: float, has_video: bool, name: str, limits: dict[str, float]) -> None:
    limit_s = limits["video_s"] if has_video else limits["audio_s"]
    if seconds > limit_s + _SLACK_S:
        what = "video" if has_video else "audio"
        raise LimitExceeded(f"{name} runs for {_clock_text(seconds)}; the limit for {what} is {_clock_text(limit_s)}")


def _clock_text(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds >= 90 else f"{seconds:.1f} seconds"


def _check_size(width: int, height: int, name: str, limits: dict[str, float]) -> None:
    if min(width, height) > limits["video_side_px"] or width * height > limits["image_pixels"]:
        raise LimitExceeded(
            f"{name} has frames of {width} x {height} pixels; the limit is {limits['video_side_px']} on the shorter"
            f" side and {limits['image_pixels'] / 1e6:.0f} megapixels in all"
        )


def _rgb(reformatter: VideoReformatter, frame: Any, size: tuple[int, int]) -> "np.ndarray":
    import numpy as np

    turned, mirrored, curve = _turn(frame), _is_mirrored(frame), hdr_curve(frame.color_trc)
    form = "gbrp16le" if curve else "rgb24"
    frame = reformatter.reformat(frame, size[0], size[1], format=form, interpolation="AREA", threads=1)
    rgb = frame.to_ndarray()
    rgb = as_sdr(rgb, curve, wide=is_wide(frame.color_primaries)) if curve else rgb
    rgb = rgb[::-1] if mirrored else rgb
    return np.rot90(rgb, turned // 90 % 4) if turned % 360 else rgb


def _turn(frame: Any) -> int:
    """Return by how many degrees to the left a player turns a frame; 0 where its matrix is no turn, as one of zeros."""
    return int(frame.rotation) if abs(frame.rotation) <= 360 else 0


def _is_mirrored(frame: Any) -> bool:
    """Tell whether a player is told to show a frame upside down before it turns it, which makes a mirror image."""
    import numpy as np

    shown = frame.side_data.get(Type.DISPLAYMATRIX)
    if shown is None:
        return False
    a, b, _, c, d, *_ = np.frombuffer(shown, np.int32).tolist()
    return bool(a * d < b * c)
