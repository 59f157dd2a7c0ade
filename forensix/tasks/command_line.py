"""What commands say of components: which ones, by slot, and where their networks run."""

import argparse
from collections.abc import Mapping
from typing import Any

from forensix.errors import UsageError

WHERE = ("device", "batch_size")


def register(command: argparse.ArgumentParser) -> None:
    """Add the options to a command."""
    command.add_argument(
        "--component",
        action="append",
        default=[],
        metavar="SLOT=NAME",
        help="a model by name or by the path to its card, for example spoof=aasist (repeatable)",
    )
    command.add_argument(
        "--device", default="cpu", metavar="DEVICE", help="cpu (default), cuda, cuda:1, mps, or auto for what there is"
    )
    command.add_argument(
        "--batch-size", type=int, metavar="N", help="windows, frames and crops that go through a network at once"
    )


def chosen(options: argparse.Namespace) -> dict[str, Any]:
    """Return what was said, as `forensix.analyze` takes it.

    Raises
    ------
    UsageError
        A component is not written SLOT=NAME, or there are two for one slot.
    """
    choices: dict[str, Any] = {"device": options.device, "batch_size": options.batch_size}
    for pair in options.component:
        slot, equals, name = pair.partition("=")
        if not (slot and equals and name) or slot in WHERE:
            raise UsageError(f"--component takes SLOT=NAME, for example spoof=aasist: got {pair!r}")
        if slot in choices:
            raise UsageError(f"--component names two for {slot}, {choices[slot]} and {name}: name one")
        choices[slot] = name
    return choices


def check(choices: Mapping[str, Any]) -> None:
    """Check that what was said can be had here; no network is loaded.

    Raises
    ------
    UsageError
        There is no such slot or device, or the component does not fill the slot.
    ModelError
        There is no such component, or its weights are not here.
    """
    from forensix.models import Placement, check_component
    from forensix.tasks.task import check_slots

    Placement(choices["device"], choices["batch_size"]).check()
    components = _components(choices)
    check_slots(components)
    for slot, name in components.items():
        check_component(slot, name)


def checked(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was said for those who analyse in another folder, after the same checks as `check`."""
    from forensix.models import as_absolute

    check(choices)
    components = _components(choices)
    where = {name: choices[name] for name in WHERE}
    return where | {slot: as_absolute(name) for slot, name in components.items()}


def _components(choices: Mapping[str, Any]) -> dict[str, str]:
    return {slot: str(name) for slot, name in choices.items() if slot not in WHERE}


def spelled(choices: Mapping[str, Any]) -> list[str]:
    """Return what was said as the arguments of a command."""
    components = [f"--component={slot}={name}" for slot, name in _components(choices).items()]
    batch = [] if choices["batch_size"] is None else [f"--batch-size={choices['batch_size']}"]
    return [f"--device={choices['device']}", *batch, *components]
