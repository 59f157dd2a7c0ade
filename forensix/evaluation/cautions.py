"""What a reader should know of figures that few files, or the same files twice, were made into.

All of it is seen in the scores: too few groups for an interval, one class only, too few reals for a small false
positive rate, scores that run the wrong way, content that is there more than once, and generators of which nothing was
scored.
"""

import pandas as pd

from forensix.evaluation.conditions import units
from forensix.labels import LABELS
from forensix.manifest_table import GROUP
from forensix.metrics import auc
from forensix.metrics.intervals import DIRECTION

LEAST_GROUPS = 20
"""With fewer in a class, intervals of the bootstrap are known to be too narrow."""
MOST_CHANCE = 0.01
"""That groups of real files would score so far above those of fakes by chance (Mann-Whitney), where it is told."""
_AT_FPR = "tpr_at_fpr_"


def cautions(scores: pd.DataFrame) -> list[str]:
    """Return sentences about the scores of an evaluation, from its files as they are, not degraded."""
    files = scores[scores["degradation"] == "none"] if "degradation" in scores else scores
    scored = files[files["score"].notna()].drop_duplicates("path")
    return [*_few(scored), *_turned(files), *_repeated(scored), *_left_out(scores)]


def _few(scored: pd.DataFrame) -> list[str]:
    named = GROUP in scored and scored[GROUP].notna().any()
    groups = units(scored)
    n_groups = {label: groups[scored["label"] == label].nunique() for label in LABELS}
    what, sentences = "groups" if named else "files", []
    few = {label: n for label, n in n_groups.items() if 0 < n < LEAST_GROUPS}
    if few:
        lone = list(few.values()) == [1]
        counted = " and ".join(f"{n} {label}" for label, n in few.items())
        sentences.append(
            f"There {'is' if lone else 'are'} only {counted} {what[:-1] if lone else what}: with fewer than"
            f" {LEAST_GROUPS} of a class an interval is too narrow, and [1, 1] does not mean that nothing else is"
            " possible."
        )
    classes = [label for label, n in n_groups.items() if n]
    if not classes:
        sentences.append("No undegraded file has a score, so there are no figures of them.")
    if len(classes) == 1:
        sentences.append(
            f"All files that were scored are {classes[0]}: AUC, EER and whatever else compares the classes take both."
        )
    n_real = int((scored["label"] == "real").sum())
    least_reals = {name: round(1 / float(name.removeprefix(_AT_FPR))) for name in DIRECTION if name.startswith(_AT_FPR)}
    short = {name: n for name, n in least_reals.items() if n_real < n}
    if short and n_groups["fake"] and n_real:
        needed = " and ".join(f"{name} takes {n}" for name, n in short.items())
        sentences.append(f"{needed} reals, and there are {n_real}: here it is the share of fakes above every real.")
    return sentences


def _turned(files: pd.DataFrame) -> list[str]:
    from scipy.stats import mannwhitneyu

    sentences = []
    scored = files[files["score"].notna()]
    for name, of in scored.groupby("component", sort=False, observed=True) if "component" in scored else ():
        fake = of["label"] == "fake"
        if fake.all() or not fake.any() or (area := auc(fake, of["score"])) >= 0.5:
            continue
        groups = of["score"].groupby([of["label"], units(of)]).mean()
        if mannwhitneyu(groups["fake"], groups["real"], alternative="less").pvalue <= MOST_CHANCE:
            sentences.append(
                f"{name} scores real files above fake ones (AUC {area:.3f}), by more than chance: a score is higher for"
                " fake, so either its scores run the other way, or labels are swapped, or it is misled here."
            )
    return sentences


def _repeated(scored: pd.DataFrame) -> list[str]:
    if "sha256" not in scored:
        return []
    known = scored[scored["sha256"].notna()]
    again = known["sha256"].duplicated()
    if not again.any():
        return []
    first = known.drop_duplicates("sha256").set_index("sha256")["path"]
    n, repeated = int(again.sum()), known[again].iloc[0]
    sentences = [
        f"{n} of {len(scored)} files {'has' if n == 1 else 'have'} the same content as another, and each counts as if"
        f" it were another one: the first is {repeated['path']}, which is {first[repeated['sha256']]}."
    ]
    both = known["sha256"].map(known.groupby("sha256")["label"].nunique()) > 1
    if both.any():
        sentences.append(
            f"{int(both.sum())} files have content that is labelled both real and fake: the first is"
            f" {known.loc[both, 'path'].iloc[0]}; one of its labels is wrong, and so are all figures."
        )
    return sentences


def _left_out(scores: pd.DataFrame) -> list[str]:
    if "generator" not in scores:
        return []
    fakes = scores[(scores["label"] == "fake") & scores["generator"].notna()]
    keys = [name for name in ("component", "degradation", "strength", "generator") if name in fakes]
    scored = fakes.groupby(keys, dropna=False, observed=True)["score"].count().rename("n").reset_index()
    names = sorted(scored.loc[scored["n"] == 0, "generator"].astype(str).unique())
    if not names:
        return []
    of = f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"
    return [
        f"Of {of} no file was scored (by a component, in a condition): the mean of generators, AVG, leaves that out."
    ]
