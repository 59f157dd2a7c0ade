"""What was read of a page's drawing, and what may still be read of its document."""

from dataclasses import dataclass, field

from forensix.metadata.pdf.fonts import Font
from forensix.metadata.pdf.geometry import Box
from forensix.metadata.pdf.layers import Layers

TOTAL_BYTES = 3 << 20
FONTS = 60


class TooLong(Exception):
    """The pages hold more content than is read."""


@dataclass(frozen=True)
class Mark:
    """One thing drawn: ``kind`` is ``box``, ``image`` or ``text``; boxes in points, lower left and upper right."""

    kind: str
    box: Box
    colour: str = ""
    """Of a box and of text: ``white``, ``pattern`` or its components."""
    opaque: bool = True
    letters: tuple[tuple[str, float, float], ...] = ()
    """Of text: each character with its middle, in points."""
    font: Font | None = None
    unseen: str = ""
    """Of text that leaves no ink: ``without ink``, ``transparent``, or ``layer`` and the layer's name."""

    @property
    def text(self) -> str:
        """Return the letters, as they are read."""
        return "".join(letter for letter, _, _ in self.letters)


@dataclass
class Drawing:
    """Marks in the order of drawing; words that leave no ink; boxes around whatever is painted in a colour.

    What is painted through a soft mask is in ``masked`` as well.
    """

    marks: list[Mark] = field(default_factory=list)
    unseen: list[Mark] = field(default_factory=list)
    grounds: list[Box] = field(default_factory=list)
    masked: list[Box] = field(default_factory=list)
    n_own: int = 0
    """How many of the marks, the first ones, are the page's and no form field's."""
    forms: list[list[Mark]] = field(default_factory=list)
    """The words of each form field, in the order in which they were given."""
    empty: list[Mark] = field(default_factory=list)
    """What form fields without words draw: their grounds and pictures."""
    n_text: int = 0
    n_hidden_text: int = 0


@dataclass
class Budget:
    """What may still be read of a document, the fonts that were, and which of its layers are off."""

    n_bytes: int = TOTAL_BYTES
    n_fonts: int = FONTS
    fonts: dict[tuple[int, int], Font] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
