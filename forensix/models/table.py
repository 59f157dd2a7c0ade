"""Published detectors as a table in Markdown, made of their cards."""

from collections.abc import Iterable
from itertools import groupby

from forensix.models.card import ModelCard

HEAD = "| detector | for | licence of the weights | size | published figure, where read | our port differs by |"
_FOR = {"image_detector": "pictures", "face_classifier": "faces", "spoof": "voices"}


def markdown(cards: Iterable[ModelCard]) -> str:
    """Return a row for each published network that detects fakes, with the names of all files of weights for it.

    It says what for, under which licence, how many weights, and its authors' figure. The last column is
    `ModelCard.parity`: the largest difference between the outputs of the authors' code and of the network here, given
    the same weights and input.
    """
    published = sorted((card for card in cards if card.url and card.component in _FOR), key=_network)
    rows = [_row(list(group)) for _, group in groupby(published, key=lambda card: _network(card)[:-1])]
    return "\n".join([HEAD, "|---|---|---|---|---|---|", *rows])


def _network(card: ModelCard) -> tuple[int, str, int, str, str]:
    return list(_FOR).index(card.component), card.architecture, card.n_parameters or 0, card.licence, card.name


def _row(cards: list[ModelCard]) -> str:
    first = cards[0]
    lines = [f"{card.name}: {card.published}" if len(cards) > 1 else card.published for card in cards if card.published]
    errors = [card.parity.error for card in cards if card.parity]
    cells = (
        ", ".join(card.name for card in cards),
        _FOR[first.component],
        first.licence,
        _size(first.n_parameters),
        "; ".join(lines) or "–",
        f"{max(errors):.1g}" if len(errors) == len(cards) else "–",
    )
    return f"| {' | '.join(cells)} |"


def _size(n: int | None) -> str:
    if n is None:
        return "–"
    return f"{n / 1e6:.1f} M" if n >= 1e5 else f"{n / 1e3:.0f} k"
