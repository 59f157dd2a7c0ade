"""The pages of a PDF to look at: those that claims point to with the places marked, and what later versions changed.

Two versions are drawn alike and compared pixel by pixel, so what differs is what a reader sees differ: a change that
draws nothing is not found here, and a new font in the same words is. Only some pages are drawn, those first that the
file itself says were changed.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from forensix.errors import InputError
from forensix.forensics import Finding
from forensix.forensics.findings import literal
from forensix.media import DrawnPage, Media, PageJob
from forensix.metadata.facts import Fact, Facts
from forensix.schema import Claim
from forensix.tasks.evidence import Evidence, Picture, Table
from forensix.tasks.pictures import jpeg_uri, outlined

SIDE_PX = 900
MAX_PLAIN = 2
"""Pages that are shown although nothing points to them."""

PLAIN_S = 10.0
"""How long drawing those may take: what is seen on them carries no claim."""

MAX_MARKED = 6
MAX_VERSIONS = 4
"""Later versions that are compared with the one before, the last ones first."""

MAX_COMPARED = 4
"""Pages that are compared for each of them."""

MAX_WORDS, MAX_LETTERS = 2000, 80
"""Words of a page that are compared, and letters that are told of those that are gone or new."""

LEAST_STEP = 16
"""Of 255: by how much a pixel differs at least."""

NEAR_PX = 6
"""Changed pixels so near to each other are one place."""

LINE_PX = 2
"""Of a frame around a place: letters beside it, and those within, stay readable."""

ROOM_PX = LINE_PX + 2
"""Between a place and the outer edge of its frame, which has a dark rim."""

FAINT = 64
"""Of 255: a frame may lie on what differs by less, such as the soft edges of letters."""

FAR_PX = 40
"""How far a frame is moved at most to lie between words, and not on letters."""

MAX_PLACES = 20
PLACED = ("pdf.covered_text", "pdf.covered_picture", "pdf.redaction")
"""Facts that say where on a page they stand."""

FRAME = 150
"""Grey of the line around a page, and of what lies between two."""

_COLOUR = (190, 74, 16)
_PAGE = re.compile(r"\bpage (\d{1,6})\b")


@dataclass(frozen=True)
class _Version:
    """A later version with the one before it: where both end, and the pages that it says it changed."""

    fact: Fact
    before: int
    end: int
    pages: tuple[int, ...]

    @property
    def name(self) -> str:
        return f"version {self.fact.value['index']}"


@dataclass(frozen=True)
class _ClaimPlaces:
    """Places on one page that a claim rests on, in points."""

    page: int
    claim: Claim
    boxes: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class _PageChange:
    """A page in two versions: what a table says of it, empty where it looks the same, and both beside each other."""

    page: int
    change: str
    picture: Picture | None


def pages(media: Media, facts: Facts, findings: Sequence[Finding]) -> tuple[tuple[Evidence, ...], str]:
    """Return what there is to look at, and a sentence where the pages could not be drawn.

    A document behind a password has nothing to look at.
    """
    if media.kind != "pdf" or media.broken or facts.get("pdf.encryption.locked"):
        return (), ""
    marked = _marked(findings)
    versions = _versions(facts)
    plain = [page for page in range(1, MAX_PLAIN + 1) if page <= (media.info.n_pages or 1)]
    jobs = [PageJob(change.page, boxes=change.boxes) for change in marked]
    jobs += [
        PageJob(page, end) for version in versions for page in version.pages for end in (version.before, version.end)
    ]
    by_job, note = _drawn(media, jobs)
    by_plain, plain_note = _drawn(media, [PageJob(page) for page in plain], PLAIN_S)
    note = note or plain_note
    if not by_job and not by_plain:
        return (), note or "The pages could not be drawn."
    evidence: list[Evidence] = []
    outlined = set()
    for i, change in enumerate(marked):
        if (at_claim := by_job.get(i)) and at_claim.rgb is not None:
            outlined.add(change.page)
            caption = "As a viewer draws it; the places that the claim rests on are outlined."
            evidence.append(
                Picture(f"Page {change.page}", _uri(_outlined(at_claim.rgb, at_claim.boxes)), caption, change.claim)
            )
    for i, number in enumerate(plain):
        if number not in outlined and (drawn := by_plain.get(i)) and drawn.rgb is not None:
            evidence.append(Picture(f"Page {number}", _uri(drawn.rgb), "As a viewer draws it."))
    pairs = iter([(by_job.get(i), by_job.get(i + 1)) for i in range(len(marked), len(jobs), 2)])
    rows = []
    for version in versions:
        compared = [
            _compare(version, number, *next(pairs), _claim_of(version.fact, findings)) for number in version.pages
        ]
        evidence += [change.picture for change in compared if change and change.picture]
        rows.append(_row(version, [change for change in compared if change]))
    if rows:
        columns = ("version", "pages compared with the version before", "pages that look different")
        evidence.append(Table("What the later versions change to the eye", columns, tuple(rows)))
    return tuple(evidence), note


def _drawn(media: Media, jobs: Sequence[PageJob], timeout_s: float | None = None) -> tuple[dict[int, DrawnPage], str]:
    """Return the pages that could be drawn, by the place of their jobs, and a sentence where time or memory ran out."""
    by_job: dict[int, DrawnPage] = {}
    try:
        for page in media.pages(jobs, max_side_px=SIDE_PX, timeout_s=timeout_s) if jobs else ():
            by_job[page.job] = page
    except InputError as error:
        return by_job, f"Not all pages could be drawn: {error}."
    return by_job, ""


def difference(old: NDArray[np.uint8], new: NDArray[np.uint8]) -> tuple[NDArray[np.float64], float]:
    """Return where two drawn pages differ.

    Parameters
    ----------
    old, new
        uint8 (H, W, 3).

    Returns
    -------
    Boxes around the places, float (n, 4) xyxy in pixels of ``new``, the largest first, and the share of the pixels
    that differ, in [0, 1]. Pages of two sizes differ in all of it.
    """
    if old.shape != new.shape:
        return np.array([[0.0, 0.0, new.shape[1], new.shape[0]]]), 1.0
    from scipy import ndimage

    changed = np.abs(old.astype(np.int16) - new).max(axis=2) >= LEAST_STEP
    places, _ = ndimage.label(ndimage.binary_dilation(changed, iterations=NEAR_PX))
    boxes = np.array([[x.start, y.start, x.stop, y.stop] for y, x in ndimage.find_objects(places)], np.float64)
    boxes = boxes.reshape(-1, 4)
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return boxes[np.argsort(-area, kind="stable")][:MAX_PLACES], float(changed.mean())


def _marked(findings: Iterable[Finding]) -> list[_ClaimPlaces]:
    by_claim: dict[tuple[int, Claim], list[tuple[float, ...]]] = {}
    for finding in findings:
        for fact in finding.facts:
            if fact.key in PLACED and isinstance(fact.value, dict):
                place = by_claim.setdefault((int(fact.value["page"]), finding.claim), [])
                place.append(tuple(map(float, fact.value["box_pt"])))
    return [_ClaimPlaces(page, claim, tuple(boxes)) for (page, claim), boxes in by_claim.items()][:MAX_MARKED]


def _versions(facts: Facts) -> list[_Version]:
    saved = [f for f in facts.all("pdf.revision") if isinstance(f.value, dict) and not f.value["same_save"]]
    versions = []
    for before, fact in pairwise(saved):
        named = [int(number) for text in fact.value["named"] for number in _PAGE.findall(text)]
        pages = tuple(dict.fromkeys([*named, *range(1, MAX_COMPARED + 1)]))[:MAX_COMPARED]
        versions.append(_Version(fact, before.value["end_offset"], fact.value["end_offset"], pages))
    return versions[-MAX_VERSIONS:]


def _claim_of(fact: Fact, findings: Sequence[Finding]) -> Claim | None:
    """Return the claim on this version alone, which comes after the one on all of them."""
    return next((finding.claim for finding in reversed(findings) if finding.facts == (fact,)), None)


def _compare(
    version: _Version, number: int, old: DrawnPage | None, new: DrawnPage | None, claim: Claim | None
) -> _PageChange | None:
    """Compare a page in two versions; None where one of them could not be drawn, or neither has it."""
    if old is None or new is None or (old.rgb is None and new.rgb is None):
        return None
    title = f"Page {number} in {version.name}"
    if new.rgb is None:
        return _PageChange(number, f"page {number} is gone", None)
    if old.rgb is None:
        said = "The version before has no such page."
        return _PageChange(number, f"page {number} is new", Picture(title, _uri(new.rgb), said, claim))
    boxes, share = difference(old.rgb, new.rgb)
    if not share:
        return _PageChange(number, "", None)
    side = max(old.rgb.shape[0], new.rgb.shape[0])
    left, right = _padded(old.rgb, side), _padded(_outlined(new.rgb, boxes), side)
    both = np.concatenate([left, np.full((side + 4, 12, 3), FRAME, np.uint8), right], axis=1)
    caption = f"Left: the version before. Right: this version; what differs is outlined.{_words(old.text, new.text)}"
    picture = Picture(title, jpeg_uri(both, max_side_px=2 * SIDE_PX), caption, claim, is_wide=True)
    part = f"{100 * share:.1f} %" if share >= 0.001 else "less than 0.1 %"
    return _PageChange(number, f"page {number} ({part} of it)", picture)


def _words(old: str, new: str) -> str:
    """Return in a sentence which words of a page were taken away and which were added."""
    before, after = (text.split()[:MAX_WORDS] for text in (old, new))
    steps = [step for step in SequenceMatcher(None, before, after).get_opcodes() if step[0] != "equal"]
    gone = " … ".join(" ".join(before[a:b]) for _, a, b, _, _ in steps if a < b)
    come = " … ".join(" ".join(after[a:b]) for _, _, _, a, b in steps if a < b)
    parts = [f"{what}: {_short(words)!r}" for what, words in (("taken away", gone), ("added", come)) if words]
    return f" In words, {', '.join(parts)}." if parts else ""


def _short(words: str) -> str:
    text = literal(words)
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"


def _row(version: _Version, compared: Sequence[_PageChange]) -> tuple[str, ...]:
    if not compared:
        return version.name, "none: they could not be drawn", "–"
    pages = ", ".join(str(part.page) for part in compared)
    return version.name, pages, ", ".join(part.change for part in compared if part.change) or "none"


def _framed(rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a page with a line around it: paper is as white as what it is shown on."""
    return np.pad(rgb, ((2, 2), (2, 2), (0, 0)), constant_values=FRAME)


def _padded(rgb: NDArray[np.uint8], height: int) -> NDArray[np.uint8]:
    return np.pad(_framed(rgb), ((0, height - rgb.shape[0]), (0, 0), (0, 0)), constant_values=FRAME)


def _outlined(rgb: NDArray[np.uint8], boxes: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Draw thin frames around places, where they cover as little as can be of what stands in and beside them."""
    around = _joined([_cleared(rgb, box) for box in boxes]) + np.array([-ROOM_PX, -ROOM_PX, ROOM_PX, ROOM_PX])
    return outlined(rgb, around, [""] * len(around), [_COLOUR] * len(around), line_px=LINE_PX)


def _cleared(rgb: NDArray[np.uint8], box: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a place grown to the left and right up to where nothing stands under its frame, if that is near."""
    left, top, right, bottom = (max(0, round(v)) for v in box.tolist())
    top = min(top, len(rgb) - 1)
    rows = rgb[top : max(bottom, top + 1)].max(axis=2)
    is_plain, reach = np.ptp(rows, axis=0) < FAINT, range(FAR_PX)
    left -= next((i for i in reach if is_plain[max(0, left - i - ROOM_PX - 1) : max(0, left - i - 1)].all()), 0)
    right += next((i for i in reach if is_plain[right + i + 1 : right + i + ROOM_PX + 1].all()), 0)
    return np.array([left, top, right, bottom], np.float64)


def _joined(boxes: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return boxes of which those whose frames would meet are one, so that no frame lies on what another holds."""
    apart: list[NDArray[np.float64]] = []
    for box in boxes:
        whole = box
        while (i := next((i for i, other in enumerate(apart) if _meet(whole, other)), None)) is not None:
            other = apart.pop(i)
            whole = np.concatenate([np.minimum(whole[:2], other[:2]), np.maximum(whole[2:], other[2:])])
        apart.append(whole)
    return np.array(apart).reshape(-1, 4)


def _meet(box: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    return bool((np.maximum(box[:2], other[:2]) - np.minimum(box[2:], other[2:]) < 2 * ROOM_PX).all())


def _uri(rgb: NDArray[np.uint8]) -> str:
    return jpeg_uri(_framed(rgb), max_side_px=SIDE_PX)
