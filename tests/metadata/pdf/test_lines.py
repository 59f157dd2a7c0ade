"""Amounts that are a little off the size or the baseline of their line, on invoices that the test makes."""

import time
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

import forensix
from forensix.forensics import Finding, claims
from forensix.metadata.pdf import reader as pdf

ROWS = ("Consulting in May", "Travel to the customer", "Paper and printing", "Total to be paid")


def invoice(path: Path, *, size: float = 10.0, lift: float = 0.0, gap: float = 0.0, n_odd: int = 1) -> Path:
    """Write an invoice of four amounts, the last ones in another size and higher."""
    canvas = Canvas(str(path))
    for i, row in enumerate(ROWS):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(72, 740 - 20 * i, row)
        is_odd = i >= len(ROWS) - n_odd
        canvas.setFont("Helvetica", size if is_odd else 10)
        across = 72 + canvas.stringWidth(row, "Helvetica", 10) + 4 + gap
        canvas.drawString(across, 740 - 20 * i + (lift if is_odd else 0), "1,200.00")
    canvas.save()
    return path


def told(path: Path) -> list[Finding]:
    return [f for f in claims(pdf.read(str(path))) if "off its line" in f.claim.claim]


@pytest.mark.parametrize(
    ("size", "lift", "words"),
    [(10.3, 0.0, "size 10.30 pt beside 10.00 pt"), (10.0, 0.3, "baseline off by 0.30 pt")],
)
def test_an_amount_that_was_typed_over_another_is_told_on_top(
    tmp_path: Path, size: float, lift: float, words: str
) -> None:
    path = invoice(tmp_path / "a.pdf", size=size, lift=lift)
    (claim,) = told(path)
    assert claim.severity == "benign" and words in claim.claim.value[0] and ROWS[-1] in claim.claim.value[0]
    report = forensix.analyze(path, tasks=["forensic_analysis"])
    assert report.headline.startswith("An amount is a little off its line (page 1); ")
    assert report.verdicts == {"forensic_analysis": "benign"}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"size": 12.0},  # a total that is meant to be larger
        {"lift": 2.0},  # a row of its own
        {"lift": 0.3, "gap": 200.0},  # another column
        {"size": 10.3, "n_odd": 3},  # how the document is made
    ],
)
def test_amounts_as_they_are_designed_are_left_alone(tmp_path: Path, options: dict[str, float]) -> None:
    assert not told(invoice(tmp_path / "a.pdf", **options))  # type: ignore[arg-type]


def test_a_page_of_amounts_ends_soon(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    for _ in range(12):
        for i in range(3000):
            canvas.drawString(72, 700 + i / 3000, "1,200.00")
        canvas.showPage()
    canvas.save()
    start = time.process_time()
    assert not told(tmp_path / "a.pdf")
    assert time.process_time() - start < 10.0
