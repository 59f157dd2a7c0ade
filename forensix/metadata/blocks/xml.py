"""XML of hostile files, parsed within bounds: no document type, no entities, no endless or bottomless trees."""

from typing import Any
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

ELEMENTS = 150_000
"""More than the longest lists of ancestors that Photoshop writes into 8 MB."""
DEPTH = 200

FAULTS = (ParseError, DefusedXmlException, ValueError, LookupError)
"""What :func:`parsed` raises for bytes that are not to be read."""


class Builder(TreeBuilder):
    """Builds a tree of at most ``ELEMENTS`` elements, ``DEPTH`` deep."""

    def __init__(self) -> None:
        super().__init__()
        self.n_elements, self.depth = 0, 0

    def start(self, tag: str, attrs: dict[Any, Any]) -> Element:
        """Begin an element."""
        self.n_elements, self.depth = self.n_elements + 1, self.depth + 1
        if self.n_elements > ELEMENTS or self.depth > DEPTH:
            raise ValueError(f"more than {ELEMENTS} elements, or more than {DEPTH} inside each other")
        return super().start(tag, attrs)

    def end(self, tag: str) -> Element:
        """End an element."""
        self.depth -= 1
        return super().end(tag)


def parser(builder: Builder) -> DefusedXMLParser:
    """Return a parser that refuses document types and entities and hands its elements to a builder."""
    return DefusedXMLParser(target=builder, forbid_dtd=True)


def parsed(packet: bytes) -> Element:
    """Return the root of a packet.

    Raises
    ------
    ParseError, DefusedXmlException, ValueError, LookupError
        It is no XML, declares a document type or entities, is too large, or names an encoding that is not known.
    """
    reader = parser(Builder())
    reader.feed(packet)
    root: Element = reader.close()
    return root
