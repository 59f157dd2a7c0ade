"""Files of weights: where they lie, how they are fetched, how they are read, and that they are the right ones."""

import contextlib
import glob
import hashlib
import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensix.errors import MissingExtra, UsageError, WeightsMismatch, WeightsMissing
from forensix.folders import absolute, expanded
from forensix.models.card import ModelCard, WeightsFile

if TYPE_CHECKING:
    from torch import Tensor

SHIPPED = Path(__file__).parent / "weights"
PULL_TIMEOUT_S = 60
MAX_PULL_BYTES = 4 * 1024**3
_HUB = "https://huggingface.co/"


WeightFile = ModelCard | WeightsFile
"""A file as a card names it: the card itself for its own weights, or its ``base``."""


def weight_files(card: ModelCard) -> list[WeightFile]:
    """Return the files that a model needs, its own first."""
    return [card, card.base] if card.base is not None else [card]


def cache_folder() -> Path:
    """Return the folder that pulled checkpoints are kept in; raises `UsageError` where nobody's is known."""
    return absolute(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "XDG_CACHE_HOME") / "forensix" / "checkpoints"


def cached(name: str, file: WeightFile) -> Path:
    """Return where a pulled file is kept; what several models sit on is kept once, by its hash."""
    shared = not isinstance(file, ModelCard) and file.sha256[:16]
    return cache_folder() / (shared or name) / file.weights


def checked(name: str, file: WeightFile, folder: str | os.PathLike[str] | None, shipped: Path) -> Path:
    """Return where a model's file lies, once its hash is known to be right.

    Raises
    ------
    WeightsMissing
        It is in none of the places.
    WeightsMismatch
        It is another file.
    """
    path = _find(name, file, folder, shipped)
    if not is_right(path, file):
        expected = file.sha256 or _pinned(path)
        raise WeightsMismatch(
            f"{path.name} is not the file that the card of {name!r} describes: sha256 {expected[:12]}… was expected, "
            f"{sha256_of(path)[:12]}… came; delete it and fetch it again"
        )
    return path


def is_right(path: Path, file: WeightFile) -> bool:
    """Return whether the file is there and has the hash of the card, or, where that has none, of the first pull."""
    expected = file.sha256 or _pinned(path)
    return path.is_file() and sha256_of(path) == expected


def _find(name: str, file: WeightFile, folder: str | os.PathLike[str] | None, shipped: Path) -> Path:
    named = os.environ.get("FORENSIX_CHECKPOINTS")
    places = [Path(folder)] if folder is not None else [shipped, *([expanded(named)] if named else [])]
    paths = [path for place in places for path in (place / file.weights, place / name / file.weights)]
    if folder is None:
        with contextlib.suppress(UsageError):  # without a folder for it nothing was pulled
            paths.append(cached(name, file))
    for path in paths:
        if path.is_file():
            return path
    if file.sha256:  # beside those of another model, as authors publish several in one folder
        others = (path for place in places for path in sorted(place.glob(f"*/{glob.escape(file.weights)}")))
        if match := next((path for path in others if is_right(path, file)), None):
            return match
    remedy = f"'forensix models pull {name}' fetches them" if file.url else "reinstall forensix"
    where = folder if folder is not None else "the package, FORENSIX_CHECKPOINTS and the cache"
    raise WeightsMissing(f"the weights of {name!r} ({file.weights}) are not in {where}: {remedy}")


def of_package(package: str, path: str) -> Path | None:
    """Return a file that an installed package brings; the package is looked for, not imported."""
    spec = find_spec(package)
    places = spec.submodule_search_locations if spec else None
    file = Path(places[0]) / path if places else None
    return file if file and file.is_file() else None


def sha256_of(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _pin(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _pinned(path: Path) -> str:
    return _pin(path).read_text().strip() if _pin(path).is_file() else "(none: it was not pulled)"


def read_state(path: Path, *, scripted: bool = False) -> "dict[str, Any]":
    """Return what a file of weights holds; nothing in it is run.

    TorchScript archives, as OpenAI publishes CLIP, are the exception: code of theirs runs while they are read. So they
    are read only where ``scripted`` says that the hash of their publisher's file was checked.
    """
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    if path.suffix == ".h5":
        return _read_keras(path)
    import torch

    if path.suffix == ".pt" and scripted:
        load: Any = torch.jit.load
        archive: dict[str, Tensor] = load(path, map_location="cpu").state_dict()
        return {key: value.float() for key, value in archive.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it looks like TorchScript, which the error says too
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return state


def _read_keras(path: Path) -> "dict[str, Tensor]":
    """Return ``{"layer/kernel": ...}`` of a file that Keras wrote."""
    try:
        import h5py
    except ImportError:
        raise MissingExtra("files of Keras are read with the package h5py: pip install 'forensix[zoo]'") from None
    import torch

    weights: dict[str, Tensor] = {}
    with h5py.File(path) as file:
        for layer, group in file.items():
            for name in group.attrs.get("weight_names", ()):
                spelled = name.decode() if isinstance(name, bytes) else name
                weights[f"{layer}/{spelled.split('/')[-1].removesuffix(':0')}"] = torch.from_numpy(group[spelled][()])
    return weights


def fetch(name: str, file: WeightFile, target: Path) -> Path:
    """Fetch a file to ``target``, whole and with the right hash or not at all; what was there stays until then.

    Raises
    ------
    WeightsMissing
        There is no address, it does not answer, it asks for a token, or the disk is full.
    WeightsMismatch
        Another file came.
    """
    import httpx

    if file.url is None:
        raise WeightsMissing(f"the card of {name!r} names no address to fetch {file.weights} from")
    token = os.environ.get("HF_TOKEN") if file.url.startswith(_HUB) else None
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    digest = hashlib.sha256()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            httpx.stream(
                "GET",
                file.url,
                follow_redirects=True,
                timeout=PULL_TIMEOUT_S,
                headers={"Authorization": f"Bearer {token}"} if token else None,
            ) as answer,
            partial.open("wb") as out,
        ):
            answer.raise_for_status()
            for chunk in answer.iter_bytes():
                digest.update(chunk)
                if out.tell() > MAX_PULL_BYTES:
                    raise WeightsMismatch(f"{file.url} sends more than {MAX_PULL_BYTES} bytes")
                out.write(chunk)
        if file.sha256 and digest.hexdigest() != file.sha256:
            raise WeightsMismatch(f"what {file.url} sent is not the file that the card of {name!r} describes")
        if not file.sha256:
            _pin(target).write_text(f"{digest.hexdigest()}\n")
        partial.replace(target)
    except httpx.HTTPStatusError as error:
        raise WeightsMissing(_refusal(name, file, error.response.status_code)) from error
    except httpx.HTTPError as error:
        raise WeightsMissing(f"the weights of {name!r} could not be fetched from {file.url}: {error}") from error
    except OSError as error:
        reason = error.strerror or error
        raise WeightsMissing(f"the weights of {name!r} could not be written to {target.parent}: {reason}") from error
    finally:
        partial.unlink(missing_ok=True)
    return target


def _refusal(name: str, file: WeightFile, status: int) -> str:
    why = {
        401: "it asks for a token: accept its terms there and set HF_TOKEN",
        403: "it asks for a token: accept its terms there and set HF_TOKEN",
        404: "it is not there any more",
    }.get(status, f"it answers {status}")
    return f"the weights of {name!r} could not be fetched from {file.url}: {why}"
