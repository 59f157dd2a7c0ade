"""One sentence for a whole file: what was found, how sure that is, and what stays open.

Tasks are not added up into a score: a synthetic voice says nothing of the picture beside it. What speaks against the
file comes first, a detector's verdict before the claims about the file and what calls for an explanation beside them;
then what stays undecided, where nothing was found, and what failed. Beside what speaks against the file, which may lie
in the same picture, it is said of what nothing was found, not where. That there is nothing to judge is said where
nothing else is.
"""

from collections.abc import Mapping

from forensix.forensics.findings import joined
from forensix.report.claims import cut
from forensix.report.words import plural, verdict_class
from forensix.schema import SEVERITIES, Claim, ForensicResult
from forensix.tasks.catalogue import describe
from forensix.tasks.evidence import Outcome
from forensix.tasks.verdicts import score_text

MEDIA = {"image": "picture", "audio": "recording", "pdf": "document"}
"""Kinds of media that a sentence calls by another word."""

MAX_CLAIM = 200
"""Characters of a claim in the sentence; names of signers and programs come from the file."""


def headline(outcomes: Mapping[str, Outcome], errors: Mapping[str, str], kind: str | None = None) -> str:
    """Return the sentence on a medium of a kind; empty where nothing was analysed.

    Examples
    --------
    >>> headline({}, {})
    ''
    >>> headline({}, {"voice_analysis": "the sound is broken"})
    'The analysis of the voice failed.'
    """
    synthetic, claims, medium = list[str](), "", MEDIA.get(kind or "", kind or "file")
    remarks = [outcome.remark for outcome in outcomes.values() if outcome.remark]
    undecided, untold, clear, absent = dict[str, int](), dict[str, int](), list[str](), list[str]()
    not_found = list[str]()
    is_partial = any(outcome.is_partial for outcome in outcomes.values())
    file = ""
    for task, outcome in outcomes.items():
        description, name = describe(task), verdict_class(outcome)
        if outcome.is_untold:
            untold[_subjects(description.subject, outcome.n_subjects)] = outcome.n_subjects
        elif name == "inconclusive":
            n_undecided = outcome.n_undecided or outcome.n_subjects
            several = f"{n_undecided} of " if n_undecided < outcome.n_subjects else ""
            undecided[several + _subjects(description.subject, outcome.n_subjects)] = n_undecided
        elif name == "fake":
            score = "" if outcome.score is None else f" (score {score_text(outcome.score)})"
            finding = (outcome.of_part and description.part_finding) or description.finding
            synthetic.append(f"{finding.replace('{medium}', medium)}{score}")
        elif isinstance(outcome.result, ForensicResult) and name in SEVERITIES[:2]:
            claims = _claims(outcome.result)
        elif isinstance(outcome.result, ForensicResult) and name in ("benign", "no_claims"):
            file = f"what could be read of {description.subject}" if is_partial else description.subject
        elif name == "real":
            clear.append(_subjects(description.subject, outcome.n_subjects))
            not_found.append(description.finding.replace("{medium}", medium))
        elif name in description.verdicts:
            absent.append(description.verdicts[name].word.lower())
    failed = [describe(task).subject for task in errors]
    parts = [f"likely {joined(synthetic)}"] if synthetic else []
    parts += [claims] if claims else []
    parts += remarks
    if undecided:
        parts.append(f"{joined([*undecided])} {'stays' if sum(undecided.values()) == 1 else 'stay'} undecided")
    if untold:
        parts.append(f"{joined([*untold])} {'is' if sum(untold.values()) == 1 else 'are'} not called fake")
    if file and not synthetic:
        clear.append(file)
    if not_found and (synthetic or claims):
        parts.append(f"nothing points to {joined(not_found, 'or')}")
    elif clear:
        parts.append(f"nothing in {joined(clear)} points to a fake, which is no proof of authenticity")
    if file and synthetic:
        # What was found was found in this file: it is only what the file says of itself that is clear.
        parts.append(f"{file}'s own data {'shows' if is_partial else 'show'} nothing suspect")
    if absent and not parts:
        parts.append(f"{joined(absent)}, so there is nothing to judge")
    if failed:
        parts.append(f"the analysis of {joined(failed)} failed")
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _claims(result: ForensicResult) -> str:
    """Return the gravest claim in its own words, and how many there are beside it.

    Of several, one that shows editing comes first, then a signature; that there are earlier versions, and names of
    programs, say least.
    """
    critical, suspect = (getattr(result.claim_lists, name) for name in SEVERITIES[:2])
    severity, claims = ("critical", critical) if critical else ("suspect", suspect)
    what = "holds critical evidence" if critical else "calls for an explanation"
    shows = min(claims, key=_rank)
    rest = f" and {plural(len(claims) - 1, f'more {severity} claim')}" if claims[1:] else ""
    return f'the file {what}: "{cut(shows.claim, MAX_CLAIM)}"{rest}'


def _rank(claim: Claim) -> int:
    if claim.type == "software" or claim.user_category == "versions":
        return 3
    return 0 if claim.user_category == "editing" else 1 if claim.type == "signature" else 2


def _subjects(noun: str, n: int) -> str:
    return noun if n == 1 else f"the {plural(n, noun.removeprefix('the '))}"
