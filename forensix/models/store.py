"""Where weights lie, and the checks that they pass before they are used."""

import importlib
import json
import os
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING

from pydantic import ValidationError

from forensix.errors import MissingExtra, ModelError, ModelNotFound, UsageError, WeightsMismatch
from forensix.folders import expanded
from forensix.models import files
from forensix.models.card import ModelCard
from forensix.models.files import SHIPPED, read_state, sha256_of

if TYPE_CHECKING:
    from torch import nn


_UNFIT = (RuntimeError, LookupError, TypeError, AttributeError, ValueError, OSError, EOFError, UnpicklingError)
"""What building a network and reading weights raise where a card or a file is not what it should be."""
_NOT_COPIED = re.compile(r"an exception occurred : \(['\"]([^'\"\n]{1,200})")
"""What torch says where the weights are right and the machine is not: no word of the file."""


@dataclass(frozen=True)
class LoadedModel:
    """A network in evaluation mode and the card that says how to feed it."""

    card: ModelCard
    module: "nn.Module"


@cache
def _cards() -> dict[str, ModelCard]:
    paths = sorted(SHIPPED.glob("*.json"))
    cards = (ModelCard.model_validate_json(path.read_bytes()) for path in paths)
    return {card.name: card for card in cards}


class ModelCards(tuple[ModelCard, ...]):
    """Cards, drawn as a table of a line each."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [(card.name, card.component, card.summary) for card in self]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(2)]
        return "\n".join(f"{name:{widths[0]}}  {slot:{widths[1]}}  {summary}" for name, slot, summary in rows) or "()"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(card.name)}</td><td>{escape(card.component)}</td><td>{escape(card.summary)}</td></tr>"
            for card in self
        )
        return f"<table><tr><th>name</th><th>component</th><th>summary</th></tr>{rows}</table>"


def list_models(component: str | None = None) -> ModelCards:
    """Return the cards of all known models, or of those that fill one slot; they draw themselves as a short table.

    Raises
    ------
    UsageError
        No known model fills a slot of that name; the message lists those that are filled.
    """
    slots = sorted({card.component for card in _cards().values()})
    if component is not None and component not in slots:
        raise UsageError(f"no model fills a slot named {component!r}; there are: {', '.join(slots)}")
    return ModelCards(_cards().values()) if component is None else cards_of(component)


def cards_of(slot: str) -> ModelCards:
    """Return the cards of the models that fill a slot; there may be none."""
    return ModelCards(card for card in _cards().values() if card.component == slot)


def get_card(name: str | os.PathLike[str]) -> ModelCard:
    """Return one card: of a name, or of a path to a card or to a folder that holds one, as `save_model` writes them.

    Raises
    ------
    ModelNotFound
        No model of that name; the message lists those there are. Or no card, or several, in the folder.
    """
    if is_place(name):
        return _card_at(expanded(name))
    name = os.fspath(name)
    if name not in _cards():
        raise ModelNotFound(
            f"there is no model named {name!r}{if_folder(name)}; there are: {', '.join(sorted(_cards()))}"
        )
    return _cards()[name]


def is_place(name: str | os.PathLike[str]) -> bool:
    """Return whether it is a path to something that is there, and not the name of a model."""
    if not isinstance(name, str):
        return True
    return (
        name not in _cards() and (os.sep in name or name.endswith(".json") or name == ".") and expanded(name).exists()
    )


def if_folder(name: str) -> str:
    """Return how a folder is told from a name, where there is one that is called as the name that was not found."""
    return f" (the folder is meant by ./{name})" if os.sep not in name and os.path.isdir(name) else ""


def _card_at(path: Path) -> ModelCard:
    cards = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if len(cards) != 1:
        raise ModelNotFound(f"{path} holds {len(cards)} cards and not one: name the file NAME.json")
    try:
        return ModelCard.model_validate_json(cards[0].read_bytes())
    except OSError as error:
        raise ModelNotFound(f"{cards[0]} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ModelNotFound(f"{cards[0]} is no card of a model: {where}: {first['msg']}") from None


def checked_weights(name: str | os.PathLike[str], *, folder: str | os.PathLike[str] | None = None) -> Path:
    """Return where the weights of a model lie, once they are known to be those of its card; see `load_model`."""
    return checked_files(name, folder=folder)[0]


def checked_files(name: str | os.PathLike[str], *, folder: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the file of a model's weights and, for a head, that of what it sits on, with the hashes checked."""
    card = get_card(name)
    if folder is None and is_place(name):
        place = expanded(name)
        folder = place if place.is_dir() else place.parent
    shipped = SHIPPED
    return [files.checked(card.name, file, folder, shipped) for file in files.weight_files(card)]


def load_model(name: str | os.PathLike[str], *, folder: str | os.PathLike[str] | None = None) -> LoadedModel:
    """Load a network whose weights are exactly the ones that its card describes.

    Parameters
    ----------
    name
        Name of a card, see `list_models`; or a path to one, see `get_card`, beside which its weights lie.
    folder
        Where the weights lie; without it the package, the folder in ``FORENSIX_CHECKPOINTS`` and the cache are tried.

    Raises
    ------
    ModelNotFound
        No such card, or one of an architecture that there is not.
    WeightsMissing
        The file is in none of these places; the message names the remedy.
    WeightsMismatch
        The file's hash, a key or a shape is not the card's, or it is damaged.
    """
    paths = checked_files(name, folder=folder)
    card = get_card(name)
    try:
        architecture = importlib.import_module(f"forensix.models.architectures.{card.architecture}")
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("forensix."):
            raise
        raise ModelNotFound(f"the card of {card.name!r} is of the unknown architecture {card.architecture!r}") from None
    from safetensors import SafetensorError  # here, as what draws cards needs neither

    from forensix.models.unfilled import Unfilled

    try:
        with Unfilled():
            module = architecture.build(**card.config)
        # Only of a file whose hash a card of the package states is it known who wrote what would be run.
        states = [read_state(path, scripted=not is_place(name)) for path in paths]
        # What was trained on here has the names that it has here; files as published may not.
        ours = states[0].keys() == module.state_dict().keys()
        state = states[0] if ours or not hasattr(architecture, "adapt") else architecture.adapt(*states)
        module.load_state_dict(state, strict=True)
    except MissingExtra:
        raise
    except (*_UNFIT, SafetensorError) as error:
        if failed := _NOT_COPIED.search(str(error)):
            hint = ", which it looks for in /proc: mount that" if "cpuinfo" in failed[1] else ""
            raise ModelError(
                f"torch cannot take the weights of {card.name!r} into memory: {failed[1].rstrip('!.')}{hint}"
            ) from error
        # Torch names every tensor, on lines of their own: a few say enough.
        reason = textwrap.shorten(f"{type(error).__name__}: {error}", 240, placeholder=" ...")
        if "weights_only" in str(error):  # torch goes on to say how to run it all the same
            reason = "it holds more than weights, and what it would run is not run; store them as safetensors"
        raise WeightsMismatch(f"{paths[0].name} does not fit {card.architecture}: {reason}") from error
    return LoadedModel(card, module.eval())


def save_model(
    card: ModelCard, module: "nn.Module", folder: str | os.PathLike[str], *, half: bool = False
) -> ModelCard:
    """Write weights as safetensors and the card, with their hash and parameter count, beside them; return that card.

    With ``half``, matrices and kernels are stored with 16 bits; vectors, among them what normalises, keep 32. The
    module is given what was stored, so that what is measured with it afterwards is what ships.
    """
    from safetensors.torch import save_file

    path = Path(folder) / card.weights
    state = {key: value.detach().cpu().contiguous() for key, value in module.state_dict().items()}
    if half:
        state = {
            key: value.half() if value.ndim > 1 and value.is_floating_point() else value for key, value in state.items()
        }
        module.load_state_dict(state, strict=True)
    save_file(state, path)
    path.chmod(0o644)  # written for its owner alone otherwise, also where the package is shared
    n_parameters = sum(p.numel() for p in module.parameters())
    card = card.model_copy(update={"sha256": sha256_of(path), "n_parameters": n_parameters})
    write_card(card, folder)
    return card


def write_card(card: ModelCard, folder: str | os.PathLike[str]) -> None:
    """Write a card as JSON, for example after new measurements."""
    text = json.dumps(card.model_dump(mode="json", exclude_none=True), indent=1, ensure_ascii=False)
    (Path(folder) / f"{card.name}.json").write_text(text + "\n", encoding="utf-8")
    _cards.cache_clear()


def pull_model(name: str, *, yes: bool = False) -> Path:
    """Fetch a published checkpoint into the cache, check its hash, and return its path.

    Parameters
    ----------
    name
        Of a card, see `list_models`.
    yes
        Fetch although nobody but third parties, or nobody at all, tells the hash: the card says who does.

    Raises
    ------
    UsageError
        Such a hash, and ``yes`` was not said.
    WeightsMissing
        The card names no address, the fetch failed, a token is needed, or the disk is full; nothing is kept of it.
    WeightsMismatch
        What came is not what the card describes; nothing is kept.
    """
    card = get_card(name)
    paths = []
    for file in files.weight_files(card):
        if (SHIPPED / file.weights).is_file():
            paths.append(SHIPPED / file.weights)
            continue
        target = files.cached(card.name, file)
        if not target.is_file() and file.hash_from in ("others", "nobody") and not yes:
            who = "only third parties tell" if file.hash_from == "others" else "nobody tells"
            raise UsageError(
                f"{who} the hash of {file.weights} of {name!r}, so nothing shows that it comes as published:"
                f" 'forensix models pull {name} --yes' fetches it all the same"
            )
        paths.append(target if files.is_right(target, file) else files.fetch(card.name, file, target))
    return paths[0]
