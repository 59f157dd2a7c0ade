"""Is there anything photographic to look at? Drawings, screens and pages of text are mostly even areas, and paintings
are full of strokes.

A detector learns from photographs and from pictures that look like them; where most of a picture holds one even colour,
there is neither a sensor's noise nor a generator's texture to judge. Nor is there where colours were reduced to a few,
as GIF and other palettes do it: fine detail is lost, and the dots that stand for the colours between look like no
camera's. What is said of such a picture decides nothing.

Photographs and generated pictures have places without detail, and where there are edges they are edges of brightness. A
painted surface has detail everywhere, and many edges between colours of like brightness. People's paintings are not in
training, and generators' are, so that a painted look cannot accuse a picture.

Illustrations and comics look like what generators draw, and unlike any photograph: of those by people about half score
as generated. What looks drawn, by a rule that learnt from generators' drawings and from photographs, accuses nobody
either; see `forensix.synthetic.illustration`.

Where nearly all of a picture is black or white, as of stars, of cells in a dark field or on a bright one, what is left
to judge is a few small shapes; training has hardly any such photograph, and some of them score as generated ones do.

All this holds for detectors that were not measured on such pictures. One whose bounds were says so on its card, by the
names of `KINDS`.

References
----------
F. Cutzu, R. Hammoud and A. Leykin, "Distinguishing paintings from photographs", Computer Vision and Image Understanding
100(3), 2005 (edges of colour and of brightness).
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

BLOCK_PX = 8
EVEN_LEVELS = 2
"""A block is even where no channel spans more levels of 255 than a JPEG of good quality leaves in a plain area."""
MAX_EVEN = 0.6
"""Above this share of even blocks a picture counts as drawn or empty."""
FEW_COLOURS, FEW_GREYS = 256, 128
"""Up to so many colours a picture has few; a grey one has never more than 256, and photographs nearly as many."""
COUNTED_PX = 1 << 18
"""Pixels that are counted at once."""
TINY_PX, SMALL_PX = 160, 448
"""Shorter sides below which no score decides, and below which none calls a picture generated: what is scaled down for
the web looks smooth and sharp as what is generated does, see ``benchmarks/results/generated_false_alarms.md``."""

MAX_CLEAR = 0.05
"""Share of wholly transparent pixels above which a picture counts as drawn or cut out."""
CUT_OUT = (
    "Parts of the picture are transparent, as no camera stores them: it was drawn or cut out, and whether a person or "
    "a generator made it is not told."
)
NEAR_BLACK, NEAR_WHITE = 24, 240
MOSTLY = 0.8
"""Above this share of pixels darker than `NEAR_BLACK`, or brighter than `NEAR_WHITE`, a picture is mostly black, or
white."""
COUNTED_SIDE = 512
"""Rows and columns of a picture that are looked at for that."""

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
LOOKED_AT_PX = 256
"""Shorter side at which a picture's edges are measured."""
FAINT = (-0.24, 0.94)
COLOURED = (1.46, 0.30)
"""Mean and deviation over the corpora's training pictures, photographed and generated: of the logarithm of how steep
brightness is at the tenth of the places where it is least steep, and of how much steeper colours are than it."""
PAINTED = 1.5
"""From here up a picture looks painted; see `painted_look`."""


def even_share(rgb: NDArray[np.uint8]) -> float:
    """Return the share of blocks of 8 px that hold one even colour, [0, 1]; 0 where no block fits.

    >>> even_share(np.zeros((64, 64, 3), np.uint8))
    1.0
    """
    height, width = (side // BLOCK_PX * BLOCK_PX for side in rgb.shape[:2])
    if not height or not width:
        return 0.0
    # Down first, along whole rows: what is held beside the picture is an eighth of it.
    rows = rgb[:height, :width].reshape(height // BLOCK_PX, BLOCK_PX, width, 3)
    high, low = (
        end.reduce([down[:, at::BLOCK_PX] for at in range(BLOCK_PX)])
        for end, down in ((np.maximum, rows.max(axis=1)), (np.minimum, rows.min(axis=1)))
    )
    return float(((high - low).max(axis=2) <= EVEN_LEVELS).mean())


def is_drawn(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether a picture is mostly even areas, as drawings, screens and pages of text are."""
    return even_share(rgb) > MAX_EVEN


def is_reduced(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether a picture has as few colours as a palette holds, whatever it is stored as.

    >>> is_reduced(np.arange(64 * 64 * 3, dtype=np.uint32).astype(np.uint8).reshape(64, 64, 3) // 64)
    True
    """
    seen, is_grey = np.zeros(1 << 24, dtype=bool), True
    n_rows = max(1, COUNTED_PX // rgb.shape[1])
    for top in range(0, len(rgb), n_rows):
        red, green, blue = (rgb[top : top + n_rows, :, i].astype(np.uint32) for i in range(3))
        is_grey &= np.array_equal(red, green) and np.array_equal(green, blue)
        seen[(red << 16 | green << 8 | blue).ravel()] = True
        if (n_seen := int(seen.sum())) > FEW_COLOURS:
            return False
    return n_seen <= (FEW_GREYS if is_grey else FEW_COLOURS)


def painted_look(rgb: NDArray[np.uint8]) -> float:
    """Return how much a picture looks painted, in deviations from those of training: how much detail there is where
    there is least, and how much steeper colours are than brightness, together.

    >>> painted_look(np.full((64, 64, 3), 9, np.uint8)) < 0
    True
    """
    picture, scale = Image.fromarray(rgb), LOOKED_AT_PX / min(rgb.shape[:2])
    if scale < 1:
        size = (round(picture.width * scale), round(picture.height * scale))
        picture = picture.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    values = np.asarray(picture).astype(np.float32)
    if min(values.shape[:2]) < 2:
        return -np.inf
    brightness = np.gradient(values @ LUMA)
    steep = np.hypot(brightness[0], brightness[1])
    down, across = np.gradient(values, axis=(0, 1))
    coloured = float(np.median(np.sqrt((down**2 + across**2).sum(axis=2))) / (np.median(steep) + 1))
    faint = float(np.log(np.quantile(steep, 0.1) + 0.1))
    return (faint - FAINT[0]) / FAINT[1] + (coloured - COLOURED[0]) / COLOURED[1]


def looks_painted(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether a picture has a painting's detail and edges of colour, from which nobody can tell who made it."""
    return painted_look(rgb) >= PAINTED


def is_black_or_white(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether nearly all of a picture is black, or nearly all of it white.

    >>> is_black_or_white(np.zeros((64, 64, 3), np.uint8))
    True
    """
    height, width = rgb.shape[:2]
    luma = rgb[:: -(-height // COUNTED_SIDE), :: -(-width // COUNTED_SIDE)] @ LUMA
    return bool(max((luma < NEAR_BLACK).mean(), (luma > NEAR_WHITE).mean()) > MOSTLY)


def looks_illustrated(rgb: NDArray[np.uint8]) -> bool:
    """Tell whether a picture looks drawn rather than photographed, by what a network says of it."""
    from forensix.synthetic.illustration import forensix_illustration

    return forensix_illustration().holds(rgb)


@dataclass(frozen=True)
class _Kind:
    """A kind of pictures of which a score tells nothing."""

    name: str
    holds: Callable[[NDArray[np.uint8]], bool]
    sentence: str


_UNDECIDED = (
    _Kind(
        "tiny",
        lambda rgb: min(rgb.shape[:2]) < TINY_PX,
        f"The picture is less than {TINY_PX} px high or wide: too few pixels to decide.",
    ),
    _Kind(
        "even",
        is_drawn,
        "Most of the picture is even areas, as in drawings, text and plain backgrounds: detection does not work on "
        "these.",
    ),
    _Kind(
        "few colours",
        is_reduced,
        "The picture has as few colours as a palette holds, which removes the fine detail that detection needs.",
    ),
)
_SMALL = _Kind(
    "small",
    lambda rgb: min(rgb.shape[:2]) < SMALL_PX,
    f"The picture is less than {SMALL_PX} px high or wide: too few pixels to call it generated.",
)
_NOT_ACCUSED = (
    _SMALL,
    _Kind(
        "painted",
        looks_painted,
        "The picture is full of detail and of edges between colours, as paintings are: whether a person or a generator "
        "made such a one is not told.",
    ),
    _Kind(
        "black or white",
        is_black_or_white,
        "Nearly all of the picture is black, or white, as in pictures of stars and through microscopes: too little is "
        "left to call it generated.",
    ),
    _Kind(
        "illustrated",
        looks_illustrated,
        "The picture looks drawn, as illustrations, comics and rendered scenes do: whether a person or a generator "
        "made such a one is not told.",
    ),
)
KINDS = tuple(kind.name for kind in (*_UNDECIDED, *_NOT_ACCUSED))
"""What a picture may be, of those of which no score decides or none accuses."""


def doubt(rgb: NDArray[np.uint8], judges: Collection[str] = ()) -> str:
    """Return in a sentence why the pixels cannot decide, whatever a detector says of them; empty where they can.

    Of the kinds in ``judges`` they can all the same: the detector was measured on such pictures.
    """
    return _first(rgb, _UNDECIDED, judges)


def doubt_if_small(rgb: NDArray[np.uint8], judges: Collection[str] = ()) -> str:
    """Return in a sentence that a picture is too small to be called generated; empty where it is not."""
    return _first(rgb, (_SMALL,), judges)


def doubt_if_fake(rgb: NDArray[np.uint8], judges: Collection[str] = ()) -> str:
    """Return in a sentence why the pixels cannot call a picture generated, being small, painted, mostly black or white,
    or drawn; empty where they can."""
    return _first(rgb, _NOT_ACCUSED, judges)


def kinds_of(rgb: NDArray[np.uint8]) -> frozenset[str]:
    """Return of which `KINDS` a picture is.

    >>> sorted(kinds_of(np.zeros((200, 200, 3), np.uint8)))
    ['black or white', 'even', 'few colours', 'small']
    """
    return frozenset(kind.name for kind in (*_UNDECIDED, *_NOT_ACCUSED) if kind.holds(rgb))


def _first(rgb: NDArray[np.uint8], kinds: Iterable[_Kind], judges: Collection[str]) -> str:
    return next((kind.sentence for kind in kinds if kind.name not in judges and kind.holds(rgb)), "")


def reason(sentence: str) -> str:
    """Return what a sentence of doubt says of the picture, without what follows from it, to go on with after a colon.

    >>> reason("The picture is small: too few pixels to decide.")
    'the picture is small'
    """
    said = sentence.partition(":")[0].rstrip(".")
    return said[:1].lower() + said[1:]
