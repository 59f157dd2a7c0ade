"""Folds that hold whole sources out: what is measured on them was made by repositories and systems not trained on."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def sources_of(repos: Sequence[str], made_by: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each file's source, (n,): files share it that share a repository or a maker, at any remove.

    Parameters
    ----------
    repos
        The repository of each file.
    made_by
        Who made it, ``""`` for recordings and photographs.

    Examples
    --------
    >>> sources_of(["a", "b", "b", "c"], ["", "VITS", "", "VITS"])
    array([0, 1, 1, 1])
    """
    above: dict[tuple[str, str], tuple[str, str]] = {}

    def top(name: tuple[str, str]) -> tuple[str, str]:
        while (up := above.setdefault(name, name)) != name:
            name = up
        return name

    for repo, maker in zip(repos, made_by, strict=True):
        if maker:
            above[top(("maker", maker))] = top(("repo", repo))
    tops = [top(("repo", repo)) for repo in repos]
    return np.asarray(pd.factorize(pd.Series(tops, dtype=object))[0], dtype=np.int64)


def leave_source_out(
    repos: Sequence[str], made_by: Sequence[str], fake: Sequence[bool], n_folds: int, *, seed: int = 0
) -> NDArray[np.int64]:
    """Return the fold that holds each file out, (n,), from 0 to ``n_folds - 1``.

    Sources (see `sources_of`) are whole. They are dealt, the largest first, to the fold that has least of their class,
    a source counting as the square root of its files, so that folds are alike in what they hold of either class.

    Raises
    ------
    ValueError
        There are fewer sources than folds, or a fold is left without one class.
    """
    table = pd.DataFrame({"source": sources_of(repos, made_by), "label": np.where(fake, "fake", "real")})
    sizes = (
        table.groupby(["source", "label"]).size().unstack(fill_value=0).reindex(columns=["real", "fake"], fill_value=0)
    )
    if len(sizes) < n_folds:
        raise ValueError(f"{n_folds} folds need as many sources; there are {len(sizes)}")
    # Equal sources are dealt in an order of the seed's.
    order = sizes.sample(frac=1.0, random_state=seed).sort_values(["real", "fake"], ascending=False, kind="stable")
    weights = np.sqrt(order.to_numpy(dtype=np.float64))
    share = weights / weights.sum(axis=0).clip(min=1)
    held = np.zeros((n_folds, 2))
    fold_of = {}
    for source, row in zip(order.index, share, strict=True):
        fold = int(np.argmin((held + row).max(axis=1) + 1e-3 * held.sum(axis=1)))
        held[fold] += row
        fold_of[source] = fold
    if (held == 0).any():
        raise ValueError(f"a fold of {n_folds} is left without one class: take fewer folds")
    return np.asarray(table["source"].map(fold_of), dtype=np.int64)
