"""Strings from files, made fit to be read: nothing hidden, nothing that steers a terminal or turns text around.

Control characters, bidirectional overrides, zero-width characters and lone surrogates are shown by their code points,
``[U+202E]``, because an examiner should see that they are there. Ordinary text of any script stays as it is.
"""

import unicodedata
from typing import Any

from markupsafe import Markup, escape

LIMIT = 4000
"""Longer strings are cut, and say so: a hostile tag must not make a report of gigabytes."""

# Joiners belong to the spelling of Persian, of Indic scripts and of emoji.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def _is_visible(char: str) -> bool:
    return char in "\n\t" or char in _JOINERS or unicodedata.category(char) not in _HIDDEN


def _is_plain(text: str) -> bool:
    """Tell at once that nothing in a text is hidden, as in most texts; joiners and rare characters say no."""
    return text.replace("\n", "").replace("\t", "").isprintable()


def _code_point(char: str) -> str:
    return f"[U+{ord(char):04X}]"


def _cut(value: Any, limit: int) -> tuple[str, str]:
    text = str(value).replace("\r\n", "\n")
    if len(text) <= limit:
        return text, ""
    return text[:limit], f" … ({len(text):,} characters)"


def visible(value: Any, *, lines: bool = False, limit: int = LIMIT) -> str:
    """Return ``value`` as text without any hidden character; ``lines`` keeps line breaks and tabs.

    Examples
    --------
    >>> visible("evil\\u202egpj.exe")
    'evil[U+202E]gpj.exe'
    """
    text, rest = _cut(value, limit)
    if not lines:
        text = text.replace("\n", " ").replace("\t", " ")
    if _is_plain(text):
        return text + rest
    return "".join(c if _is_visible(c) else _code_point(c) for c in text) + rest


def marked(value: Any) -> Markup:
    """Return escaped HTML in which hidden characters are set apart from text that merely looks like their names.

    The text is isolated, so that a right-to-left name does not reorder what stands beside it.
    """
    text, rest = _cut(value, LIMIT)
    if _is_plain(text):
        return Markup("<bdi>{}</bdi>{}").format(text, rest)
    pieces: list[str] = []
    for char in text:
        if _is_visible(char):
            pieces.append(str(escape(char)))
        else:
            pieces.append(f'<span class="fx-hidden">{_code_point(char)}</span>')
    return Markup("<bdi>{}</bdi>{}").format(Markup("".join(pieces)), rest)


def encodable(text: str, encoding: str) -> str:
    """Return ``text`` with what ``encoding`` cannot hold as escapes, so that printing cannot fail."""
    return text.encode(encoding, "backslashreplace").decode(encoding)
