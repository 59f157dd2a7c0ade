"""From a manifest of your own to a model: deal, decode, train, calibrate, set the bounds, write weights and card."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Collection
from pathlib import Path

from torch import nn

import forensix
from forensix.errors import UsageError
from forensix.evaluation.plan import read_manifest
from forensix.folders import alone, check_folder, expanded
from forensix.manifest import Manifest
from forensix.models import LoadedModel, ModelCard, list_models, load_model, save_model
from forensix.models.placement import choose_device
from forensix.models.registry import detector_of, with_article
from forensix.models.store import write_card
from forensix.progress import Progress, display
from forensix.tasks.catalogue import describe, task_names
from forensix.tasks.task import check_names, load_task
from forensix.training.own.card import command_of, digest_of, saying_first, unmeasured
from forensix.training.own.deal import deal, groups_of
from forensix.training.own.faces import Faces
from forensix.training.own.learn import Settings, learn
from forensix.training.own.material import gather
from forensix.training.own.measure import measured_on, strengths_of
from forensix.training.own.pictures import Pictures, WholePictures
from forensix.training.own.recipe import Recipe
from forensix.training.own.seen import check_unseen, trained_files, warn_of_sources
from forensix.training.own.unusable import Asked, warn_of_unusable
from forensix.training.own.voices import Voices

RECIPES: dict[str, type[Recipe]] = {one.slot: one for one in (Pictures, Voices, Faces)}
WORK = "unfinished-training"
"""Folder in ``output`` of decoded files and the checkpoint; it is deleted when the model is there, so nobody else's may
be called so."""


def train(
    manifest: Manifest | str | os.PathLike[str],
    task: str,
    output: str | os.PathLike[str],
    *,
    base: str | os.PathLike[str] | None = None,
    name: str | None = None,
    group: str | None = None,
    device: str = "cpu",
    steps: int = 1000,
    batch_size: int | None = None,
    rate: float | None = None,
    all_layers: bool | None = None,
    degradations: Collection[str] | None = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
    command: str | None = None,
) -> ModelCard:
    """Train a detector on files of your own, and return its card.

    Groups of files are split into three: most are learnt from, some stop the training when they get no better, and the
    rest are held out: their files calibrate the score, set the threshold and the bounds of ``inconclusive``, and are
    what the card's figures were measured on, whole, as a user's file is scored, as they are and degraded. Both classes
    go through the same random degradations. Killed and called again with the same arguments, it goes on.

    Parameters
    ----------
    manifest
        A manifest, or what `Manifest.read` takes. With rows of the split ``train``, those of ``test`` take no part.
    task
        ``ai_generated_image_detection``, ``voice_analysis`` or ``face_manipulation``.
    output
        A folder for card and weights: ``analyze(path, image_detector=output)``, ``evaluate(manifest, task,
        component=output)`` and ``load_detector(output)`` take it.
    base
        The model to start from: the name of any detector whose weights are on this machine, or a path to a card; by
        default the one that ships for the task.
    name
        The new model's; by default that of the folder.
    group
        Column that says what belongs together; ``group_id`` by default, else ``source``, else each file is by itself,
        which flatters the figures where files have something in common. ``"path"`` asks for that.
    device
        Where the network learns: ``"cpu"``, ``"cuda"``, ``"auto"`` or another of torch's.
    steps
        Steps of the optimiser at most.
    batch_size
        Examples of a step, an even number.
    rate
        The highest learning rate.
    all_layers
        Whether all layers learn, or the last linear one alone, as is the default for pictures; for voices and faces
        it is all, but for the network of pictures in the voice detector that ships.
    degradations
        What held-out files are measured after, each ``"name=strength"`` or ``"name"`` (`forensix.perturb`), or
        ``"all"``.
    seed
        Of all that is drawn. On one machine the same seed and files give the same weights, wherever the files lie.
    progress
        As for `forensix.analyze`.
    command
        What the card says that makes the model again; by default the ``forensix train`` that does the same.

    Raises
    ------
    UsageError
        The manifest lacks a class or groups, ``output`` is a file, may not be written or holds a model, or another run
        writes to it, the device is not there, the base was trained on files that would be held out, or the network
        learnt nothing that holds on held-out groups. No model is written then.
    ModelError
        The base cannot be used.
    OSError
        The disk is full; what was done before stays, and is continued.

    Examples
    --------
    >>> import forensix
    >>> card = forensix.train("clips", "voice_analysis", "mine")  # doctest: +SKIP
    >>> forensix.analyze("new.wav", spoof="./mine").scores  # doctest: +SKIP
    """
    slot = slot_of(task)
    settings = Settings(steps, batch_size, rate, all_layers, seed)
    conditions = strengths_of(task, RECIPES[slot].degradations if degradations is None else degradations)
    folder = expanded(output)
    called = free_name(folder, name)
    placed = choose_device(device)
    listed = read_manifest(manifest).check()
    split = deal(listed, group, settings.seed)
    started_from = os.fspath(base) if base is not None else load_task(task).components[slot]
    model = load_model(started_from)
    if model.card.component != slot:
        raise UsageError(
            f"{model.card.name} is {with_article(model.card.component)}, and {task} needs {with_article(slot)}"
        )
    if model.card.architecture == "ensemble":
        raise UsageError(f"{model.card.name} combines others: train one of these, and combine them anew")
    check_unseen(split.held_out, {model.card.name: trained_files(model.card)}, "measure on")
    told = warn_of_sources(split.held_out, [model.card])
    work = folder / WORK
    work.mkdir(parents=True, exist_ok=True)
    recipe = recipe_of(model)
    with alone(folder), display(progress) as tell:
        learnt, stopping = (
            gather(
                part,
                what,
                groups_of(part, split.group),
                recipe.read,
                work,
                recipe.form,
                _part_of(tell, task, f"reading {len(part)} files {what}", len(part), *span),
            )
            for part, what, span in (
                (split.learnt, "to learn from", (0.0, 0.2)),
                (split.stopping, "to stop by", (0.2, 0.3)),
            )
        )
        for part, one, use in ((split.learnt, learnt, "to learn from"), (split.stopping, stopping, "to stop by")):
            told += warn_of_unusable(one.refused, len(part), use)
        digest = digest_of(listed)
        held = hashlib.sha256(repr((learnt.marks, stopping.marks)).encode()).hexdigest()
        run = repr((digest, held, model.card.sha256, split.group, settings, forensix.__version__))
        told += learn(recipe, learnt, stopping, settings, placed, work / "checkpoint.pt", run, tell, task)
        said = command or command_of(
            (
                *("forensix", "train", "MANIFEST", "--task", task, "--output", output, "--name", called),
                *("--base", started_from, "--group", split.group, "--device", device, *settings.options),
            )
        )
        card = unmeasured(recipe.card, called, split, learnt, stopping, said, digest, seed=settings.seed)
        card = _saved(card, model.module.cpu(), work)
        logit = Asked(recipe.logit, split.held_out)
        card = measured_on(
            card,
            lambda card: detector_of(LoadedModel(card, model.module)),
            logit,
            split.held_out,
            split.group,
            task,
            conditions,
            lambda said, share: tell(task, said, 0.8 + 0.2 * share),
        )
        card = saying_first(card, told + logit.warn("held out"))
        # The card comes last: a folder with a card is a model.
        os.replace(work / card.weights, folder / card.weights)
        write_card(card, folder)
        shutil.rmtree(work, ignore_errors=True)
    return card


def recipe_of(model: LoadedModel) -> Recipe:
    """Return how a model learns: by its slot, and for pictures by whether it is fed as the one that ships."""
    recipe = RECIPES[model.card.component]
    return (WholePictures if recipe is Pictures and model.card.architecture != "pictures" else recipe)(model)


def slot_of(task: str) -> str:
    """Return the slot whose component gives a task's score, where that is a network that can be trained."""
    check_names([task])
    slot = describe(task).deciding_slot
    if slot not in RECIPES:
        known = [one for one in task_names() if describe(one).deciding_slot in RECIPES]
        raise UsageError(f"{task} has no network to train; tasks that have: {', '.join(known)}")
    return slot


def free_name(folder: Path, name: str | None) -> str:
    """Return what a model in a folder is called, unless the folder holds one or cannot be, or the name is taken."""
    check_folder(folder)
    if held := sorted(folder.glob("*.json")):
        raise UsageError(f"{folder} holds the model {held[0].stem} already: name another folder, or delete that one")
    called = re.sub(r"[^a-z0-9_.-]+", "-", (name or folder.absolute().name).lower()).strip("-._") or "own"
    if any(card.name == called for card in list_models()):
        raise UsageError(f"there is a model named {called} already: name the folder otherwise, or pass name=")
    return called


def _part_of(tell: Progress, task: str, said: str, n: int, start: float, stop: float) -> Callable[[int], None]:
    return lambda at: tell(task, said, start + (stop - start) * at / n)


def _saved(card: ModelCard, module: nn.Module, work: Path) -> ModelCard:
    from safetensors import SafetensorError

    try:
        return save_model(card, module, work, half=True)
    except SafetensorError as error:
        raise OSError(f"the weights cannot be written to {work}: {error}") from None
