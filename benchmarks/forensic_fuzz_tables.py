"""The tables of `benchmarks.forensic_fuzz`: what became of damaged files."""

from collections.abc import Iterable
from dataclasses import dataclass

SLOW_S, LARGE_MB, GIVEN_UP_S = 10.0, 1024.0, 60
DAMAGE_TYPES = ("structure", "format")


DAMAGE_WORDS = ("shorter than its header", "longer than its header", "broken", "changed after", "damaged")


@dataclass(frozen=True)
class Outcome:
    """What came of a case; ``ended`` is analysed, refused, crash or hang."""

    key: str
    format: str
    truncated: bool
    damage: str
    ended: str
    said: str
    claims: tuple[str, ...]
    wall_s: float
    cpu_s: float
    children_mb: float
    own_mb: float
    same: bool = False
    """The damage left the bytes as they were."""


def names_damage(claim: str) -> bool:
    """Tell whether a claim says that something is broken."""
    severity, type_, words, _ = claim.split("|", 3)
    return severity in ("critical", "suspect") and (
        type_ in DAMAGE_TYPES or any(w in words.lower() for w in DAMAGE_WORDS)
    )


def named(outcome: Outcome, original: Iterable[str]) -> str:
    """Return how strongly the damage is named by a claim that the original does not get; empty where none does."""
    new = set(outcome.claims) - set(original)
    if any(names_damage(claim) for claim in new):
        return "suspect"
    return "benign" if any(claim.startswith("benign|structure|") for claim in new) else ""


COLUMNS = (
    "cases", "told", "told as benign", "refused in one sentence", "broken before", "not told", "crash", "hang",
    "over 10 CPU s", "over 1 GB", "longest CPU s", "longest s", "most MB",
)  # fmt: skip


HEAD = f"""# Damaged files

Made by `COMMAND`.

N_MUTATIONS seeded mutations of files of every format of the corpus (N_SAME left the bytes as they were and are not
counted) and N_CUTS truncations, each through the whole forensic analysis. *Told*: a suspect or critical claim names
damage, which the file before the damage does not get; *told as benign*: only a benign claim does. *Broken before*:
nothing new is said of a file that was malformed already. *Not told*: the rest; a change to pixels, samples or words
alone leaves a sound file. *Hang*: given up after {GIVEN_UP_S} s by the clock. Seconds by the clock depend on what else
the machine does; memory is the most of any one process.
"""


def table(outcomes: list[Outcome], command: str) -> str:
    """Return the report in Markdown."""
    originals = {o.key.split(":", 1)[1]: o.claims for o in outcomes if o.key.startswith("original:")}
    ran = [o for o in outcomes if not o.key.startswith("original:")]
    n_cuts = sum(o.truncated for o in ran)
    head = HEAD.replace("COMMAND", command).replace("N_CUTS", str(n_cuts))
    head = head.replace("N_SAME", str(sum(o.same and not o.truncated for o in ran)))
    lines = [head.replace("N_MUTATIONS", str(len(ran) - n_cuts))]
    mutations = [o for o in ran if not o.truncated and not o.same]
    cuts = [o for o in ran if o.truncated]
    for title, of, group in (
        ("Mutations by format", mutations, lambda o: o.format),
        ("Mutations by damage", mutations, lambda o: o.damage),
        ("Truncations at every 1 % by format", cuts, lambda o: o.format),
    ):
        names = sorted({group(o) for o in of})
        if names:
            lines += [f"## {title}", "", f"| | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
            lines += [_line(name, [o for o in of if group(o) == name], originals) for name in names]
            lines += [_line("all", of, originals), ""]
    return "\n".join([*lines, *_failures(ran, originals)]) + "\n"


def _verdict(outcome: Outcome, originals: dict[str, tuple[str, ...]]) -> str:
    original = originals[outcome.key.split(":", 2)[2]]
    if outcome.ended != "analysed":
        return outcome.ended
    before = "before" if any(names_damage(claim) for claim in original) else "silent"
    return named(outcome, original) or before


def _line(name: str, of: list[Outcome], originals: dict[str, tuple[str, ...]]) -> str:
    verdicts = [_verdict(o, originals) for o in of]
    counts = [verdicts.count(v) for v in ("suspect", "benign", "refused", "before", "silent", "crash", "hang")]
    shares = [f"{n} ({100 * n / len(of):.0f} %)" if i in (0, 4) else str(n) for i, n in enumerate(counts)]
    most_mb = [max(o.children_mb, o.own_mb) for o in of]
    bounds = [sum(o.cpu_s > SLOW_S for o in of), sum(mb > LARGE_MB for mb in most_mb)]
    longest = [f"{max(o.cpu_s for o in of):.1f}", f"{max(o.wall_s for o in of):.1f}", f"{max(most_mb):.0f}"]
    return f"| {name} | {len(of)} | {' | '.join(map(str, [*shares, *bounds, *longest]))} |"


def _failures(ran: list[Outcome], originals: dict[str, tuple[str, ...]]) -> list[str]:
    """List the truncations that no claim names, and everything that failed."""
    failed = [f"- {o.key} ({o.damage}): {o.ended} {o.said}" for o in ran if o.ended in ("crash", "hang")]
    silent = [
        f"- {o.key.split(':', 2)[2]}, {o.damage}" for o in ran if o.truncated and _verdict(o, originals) == "silent"
    ]
    return ["## Failures", "", *(failed or ["None."]), "", "## Truncations not told", "", *(silent or ["None."])]
