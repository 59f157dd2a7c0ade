"""The table of published detectors says what their cards say, and the benchmarks' page shows it as it is today."""

from pathlib import Path

import pytest

from forensix.cli import main
from forensix.models import get_card, list_models
from forensix.models.table import HEAD, markdown

PAGE = Path(__file__).parents[2] / "benchmarks" / "README.md"


def test_each_published_detector_is_in_a_row_of_its_network(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["models", "list", "--markdown"])
    lines = capsys.readouterr().out.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert lines[0] == HEAD and {len(row) for row in rows} == {6}
    named = [name for row in rows[2:] for name in row[0].split(", ")]
    published = [card.name for card in list_models() if card.url and card.component != "face_detector"]
    assert sorted(named) == sorted(published)
    by_name = {row[0]: row[1:] for row in rows}
    card = get_card("dda")
    assert by_name["dda"] == ["pictures", card.licence, "307.5 M", card.published, "0"]
    assert by_name["meso4-df, meso4-f2f"][2] == "28 k" and by_name["meso4-df, meso4-f2f"][4] == "1e-06"


def test_the_page_shows_the_table_of_today() -> None:
    assert markdown(list_models()) in PAGE.read_text(encoding="utf-8")
