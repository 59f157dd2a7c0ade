"""A page taken apart: its tags, text and what it would fetch."""

import re
from html.parser import HTMLParser

VOID = {"meta", "img", "br", "link", "input", "hr"}


ALLOWED = frozenset(
    re.findall(
        r"\w+",
        """
        html head meta title style body main header footer nav article section h1 h2 h3 h4 p span strong bdi dl div dt
        dd ul li details summary pre code table caption thead tbody tr th td figure figcaption img br blockquote a
        svg rect line text polyline circle path
        """,
    )
)


class Page(HTMLParser):
    """Collects what a browser would see, and checks that elements are nested as they should be."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open and self._open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.text += data
