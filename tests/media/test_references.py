"""What refers to other files or addresses opens none of them."""

import contextlib
import struct
from pathlib import Path

import av
import pytest

from forensix.errors import BrokenMedia, InputError, UnsupportedMedia
from forensix.media import open_media, streams
from tests.making import write_video
from tests.media.test_bad_input import FORMATS_OF_DEMUXERS, LIMITS

pytestmark = pytest.mark.usefixtures("quiet_and_quick")

PLAYLISTS: dict[str, str] = {
    "hls": "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{url}\n#EXT-X-ENDLIST\n",
    "hls after a byte order mark": "\ufeff\n#EXTM3U\n{url}\n",
    "concat": "ffconcat version 1.0\nfile '{url}'\n",
    "bare concat": "file '{url}'\n",
    "pls": "[playlist]\nFile1={url}\n",
    "dash": "<?xml version='1.0'?>\n<MPD><BaseURL>{url}</BaseURL></MPD>",
    "sdp": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 4000 RTP/AVP 96\n",
    "svg": "<svg><image href='{url}'/></svg>",
}


@pytest.mark.parametrize("kind", PLAYLISTS)
@pytest.mark.parametrize("name", ["list.m3u8", "clip.mp4", "voice.pcm"])
def test_playlists_are_refused(kind: str, name: str, listener) -> None:
    content = PLAYLISTS[kind].format(url=f"http://127.0.0.1:{listener.port}/x.ts").encode()
    with pytest.raises(UnsupportedMedia):
        open_media(content, name=name)
    assert listener.contacts == 0


@pytest.mark.parametrize("kind", ["hls", "concat", "dash"])
def test_the_decoder_itself_follows_nothing(kind: str, listener, tmp_path: Path) -> None:
    """As if the sniffer had been deceived, and without the sandbox, whose network is off anyway."""
    path = tmp_path / "x"
    path.write_text(PLAYLISTS[kind].format(url=f"http://127.0.0.1:{listener.port}/x.ts"))
    for slug in FORMATS_OF_DEMUXERS:
        source = {"path": str(path), "slug": slug, "mime": "", "name": "x"}
        for items in (streams.samples(source, LIMITS), streams.frames(source, LIMITS, None, None)):
            with pytest.raises(InputError):
                list(items)
    assert listener.contacts == 0


def test_the_hostile_playlist_is_hostile(listener, tmp_path: Path) -> None:
    """The same playlist, opened as PyAV does by default, is fetched: the test above could fail."""
    path = tmp_path / "x.m3u8"
    path.write_text(PLAYLISTS["hls"].format(url=f"http://127.0.0.1:{listener.port}/x.ts"))
    with path.open("rb") as file, contextlib.suppress(av.error.FFmpegError), av.open(file):
        pass
    assert listener.contacts > 0


def _alias(path: Path) -> bytes:
    """Return a data reference box that says: the samples lie in the file at ``path``."""
    name = path.name.encode()
    record = bytes(10) + bytes([0]) + bytes(27) + bytes(12) + bytes([len(name)]) + name.ljust(63, b"\0") + bytes(16)
    record += struct.pack(">hh", 1, 1) + bytes(16)
    absolute = str(path).encode()
    record += struct.pack(">hh", 2, len(absolute)) + absolute + bytes(len(absolute) % 2) + struct.pack(">hh", -1, 0)
    return struct.pack(">I4sI", 12 + len(record), b"alis", 0) + record


def test_a_movie_that_refers_to_another_file_does_not_open_it(tmp_path: Path) -> None:
    other = write_video(tmp_path / "other.mov", 3)
    movie = other.read_bytes()
    at = movie.index(b"url \0\0\0\x01") - 4
    reference = _alias(other)
    hostile = bytearray(movie[:at] + reference + movie[at + 12 :])
    for parent in (b"dref", b"dinf", b"minf", b"mdia", b"trak", b"moov"):
        # The box grew, so its parents grow with it; they lie behind the samples, whose place is unchanged.
        box = movie.rindex(parent, 0, at) - 4
        (size,) = struct.unpack(">I", hostile[box : box + 4])
        hostile[box : box + 4] = struct.pack(">I", size + len(reference) - 12)
    start, end = movie.index(b"mdat") + 4, movie.index(b"moov") - 4
    hostile[start:end] = bytes(end - start)
    path = tmp_path / "a.mov"
    path.write_bytes(hostile)
    # What a careless reader sees: the pictures of the other file.
    with av.open(str(path), options={"enable_drefs": "1", "use_absolute_path": "1"}) as container:
        assert len(list(container.decode(video=0))) == 3
    source = {"path": str(path), "slug": "mov", "mime": "", "name": "a.mov"}
    with pytest.raises(BrokenMedia, match="or one that refers to another file"):
        list(streams.frames(source, LIMITS, None, None))
