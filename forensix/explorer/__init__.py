"""Explorer: a widget for JupyterLab to analyse files by hand and to browse what an evaluation found.

    forensix.explore("clips")          # choose a file, tasks and models; see verdict, tracks, heat maps, claims
    forensix.explore(evaluation)       # the rows that a detector got wrong, and each of them looked at

`explorer` holds what was chosen and found and needs no browser, `running` runs analyses beside the kernel,
`selection` filters and sorts scores, `looking` opens what a row is about. `widget` and the views show all that.
`scrub` goes through the video of a report with a slider.
Evidence is drawn by `forensix.report`, here as everywhere.
"""

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import lazy_loader

from forensix.errors import MissingExtra
from forensix.media import Limits

if TYPE_CHECKING:
    from collections.abc import Collection

    from forensix.evaluation import Evaluation
    from forensix.explorer.explorer import Explorer
    from forensix.explorer.scrubber import Scrubber
    from forensix.report import Report

__all__ = ["Explorer", "explore", "scrub"]

__getattr__, _, _ = lazy_loader.attach(__name__, submod_attrs={"explorer": ["Explorer"]})


def explore(
    source: "str | os.PathLike[str] | bytes | Evaluation | None" = None,
    tasks: "Collection[str] | None" = None,
    *,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    device: str = "cpu",
    batch_size: int | None = None,
    **components: Any,
) -> "Explorer":
    """Return a widget to analyse files with, or to browse an evaluation with; it draws itself in a notebook.

    Parameters
    ----------
    source
        A file, a URL, the bytes of a file, or a folder of files to choose from; an evaluation, or the folder of a
        saved one. Whatever is wrong with it, the widget says so. Nothing: it is chosen in the widget.
    tasks
        Names of the tasks that are ticked at first; all by default.
    limits
        Bounds on size, duration and resolution; rows of an evaluation are looked at within those of the evaluation.
    device, batch_size
        As for `forensix.analyze`.
    **components
        Component names or objects by slot that are chosen at first, for example ``spoof="aasist"``.

    Returns
    -------
    Explorer
        Whatever is clicked can be called as well: ``explorer.open(path)``, ``explorer.run()``, ``explorer.report``.

    Raises
    ------
    UsageError
        Unknown task or component, an option of another type, or a device that is not there.
    MissingExtra
        ipywidgets is not installed.

    Examples
    --------
    >>> from forensix import small
    >>> explorer = explore(small.folder("images"))  # doctest: +SKIP
    >>> explorer  # the last line of a cell shows it  # doctest: +SKIP
    """
    if find_spec("ipywidgets") is None:
        raise MissingExtra("the explorer needs ipywidgets: pip install 'forensix[notebook]'")
    from forensix.explorer.explorer import Explorer

    return Explorer(source, tasks, limits=limits, device=device, batch_size=batch_size, **components)


def scrub(report: "Report") -> "Scrubber":
    """Return a widget that goes through the video of a report frame by frame, with its faces and their scores.

    Raises
    ------
    UsageError
        The report shows no video with faces.
    MissingExtra
        ipywidgets is not installed.
    """
    if find_spec("ipywidgets") is None:
        raise MissingExtra("scrubbing needs ipywidgets: pip install 'forensix[notebook]'")
    from forensix.explorer.scrubber import Scrubber

    return Scrubber(report)
