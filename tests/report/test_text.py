"""Strings from files, made visible; and the module's own examples."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensix.report.text import encodable, marked, visible


@given(st.text())
def test_nothing_hidden_is_left_and_all_else_stays(value: str) -> None:
    output = visible(value)
    hidden = {c for c in output if unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}} - set("\u200c\u200d")
    assert not hidden
    output.encode("utf-8")
    if value.isprintable() and len(value) < 4000:
        assert output == value


@given(st.text(alphabet=st.sampled_from("<>&\"'/ab\x00\u202e")))
def test_marked_text_holds_no_markup_of_its_own(value: str) -> None:
    html = str(marked(value))
    inner = html.removeprefix("<bdi>").removesuffix("</bdi>")
    inner = inner.replace('<span class="fx-hidden">', "").replace("</span>", "")
    assert not set(inner) & set("<>\"'\x00\u202e")


def test_line_breaks_are_kept_only_where_asked_for() -> None:
    assert visible("a\r\nb\tc") == "a b c"
    assert visible("a\r\nb\tc", lines=True) == "a\nb\tc"
    assert visible("a\rb") == "a[U+000D]b"


def test_long_text_is_cut() -> None:
    assert visible("x" * 50, limit=10) == "x" * 10 + " … (50 characters)"


def test_text_for_a_poor_encoding() -> None:
    assert encodable("a×ü", "ascii") == "a\\xd7\\xfc"


@pytest.mark.parametrize(
    "text", ["plain <b>", "two\nlines\t", "joined \u200d", "hidden \u202e", "\xa0 space", "\udc80"]
)
def test_the_short_way_shows_what_the_long_way_shows(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    short = visible(text), visible(text, lines=True), marked(text)
    monkeypatch.setattr("forensix.report.text._is_plain", lambda text: False)
    assert (visible(text), visible(text, lines=True), marked(text)) == short
