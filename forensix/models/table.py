"""Published detectors as a table in Markdown, made of their cards."""

from collections.abc import Iterable

from forensix.models.card import ModelCard

HEAD = (
    "| detector | for | licence of the weights | size | published figure, and where it was read | our port differs by |"
)
_FOR = {"image_detector": "pictures", "face_classifier": "faces", "spoof": "voices"}


def markdown(cards: Iterable[ModelCard]) -> str:
    """Return a row for each published detector of fakes: what for, licence, size, its authors' figure, parity.

    The last column is `ModelCard.parity`: the largest difference between the outputs of the authors' code and of the
    network here, given the same weights and input.
    """
    published = sorted((card for card in cards if card.url and card.component in _FOR), key=_order)
    rows = [
        f"| {card.name} | {_FOR[card.component]} | {card.licence} | {_size(card.n_parameters)} | "
        f"{card.published or '–'} | {f'{card.parity.error:.1g}' if card.parity else '–'} |"
        for card in published
    ]
    return "\n".join([HEAD, "|---|---|---|---|---|---|", *rows])


def _order(card: ModelCard) -> tuple[int, str]:
    return list(_FOR).index(card.component), card.name


def _size(n: int | None) -> str:
    if n is None:
        return "–"
    return f"{n / 1e6:.1f} M" if n >= 1e5 else f"{n / 1e3:.0f} k"
