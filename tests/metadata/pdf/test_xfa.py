"""Forms that are in a document twice, as fields and as XFA, on documents that the test makes."""

import time
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, Stream, String

from forensix.forensics import Finding, claims
from forensix.metadata.facts import Facts
from forensix.metadata.pdf import reader as pdf

LIMIT_S = 10.0
DATASETS = b'<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data>%s</xfa:data></xfa:datasets>'


def form(tmp_path: Path, fields: dict[str, str], packet: bytes, *, whole: bool = False, **entries: Any) -> Path:
    """Write a document with text fields, by their dotted names, and an XFA form; return its path."""
    with pikepdf.new() as document:
        page = document.add_blank_page(page_size=(595, 842))
        tops: dict[str, pikepdf.Object] = {}
        for name, value in fields.items():
            *above, last = name.split(".")
            field = Dictionary(Subtype=Name.Widget, FT=Name.Tx, T=String(last), V=String(value), Rect=[9, 9, 99, 29])
            field.update({f"/{key}": entry for key, entry in entries.items()})
            item = document.make_indirect(field)
            parents = Array()
            for depth in range(len(above)):
                key = ".".join(above[: depth + 1])
                if key not in tops:
                    tops[key] = document.make_indirect(Dictionary(T=String(above[depth]), Kids=Array()))
                    if depth:
                        tops[".".join(above[:depth])].Kids.append(tops[key])
                parents = tops[key].Kids
            if above:
                item.Parent = tops[".".join(above)]
            (parents if above else tops.setdefault(name, item) and parents).append(item)
        stream = document.make_indirect(Stream(document, packet))
        roots = [item for key, item in tops.items() if "." not in key]
        xfa = stream if whole else Array([String("template"), Stream(document, b"<t/>"), String("datasets"), stream])
        document.Root.AcroForm = Dictionary(Fields=Array(roots), XFA=xfa)
        page.obj.Annots = Array([item for item in roots if "/Rect" in item])
        document.save(tmp_path / "a.pdf")
    return tmp_path / "a.pdf"


def told(path: Path) -> list[Finding]:
    return [f for f in claims(pdf.read(str(path))) if "The XFA form states" in f.claim.claim]


@pytest.mark.parametrize("whole", [False, True])
def test_a_value_that_the_xfa_form_states_otherwise_is_suspect(tmp_path: Path, whole: bool) -> None:
    packet = DATASETS % b"<form1><Payee>ACME</Payee><Total>9400.00</Total></form1>"
    packet = b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/">' + packet + b"</xdp:xdp>" if whole else packet
    names = {"form1[0].#subform[0].Payee[0]": "ACME", "form1[0].#subform[0].Total[0]": "2,400.00"}
    path = form(tmp_path, names, packet, whole=whole)
    (claim,) = told(path)
    assert claim.severity == "suspect"
    assert claim.claim.value == ("form1.Total: XFA 9400.00; field 2,400.00",)
    (fact,) = claim.facts
    assert fact.offset is not None and fact.where.endswith("object " + fact.where.split()[-1])
    assert path.read_bytes()[fact.offset :].startswith(fact.where.split()[-1].encode() + b" 0 obj")


def test_rows_are_told_apart_by_their_number(tmp_path: Path) -> None:
    rows = b"<form1><Row><Sum>10</Sum></Row><Row><Sum>20</Sum></Row></form1>"
    names = {"form1[0].Row[1].Sum[0]": "25.00", "form1[0].Row[0].Sum[0]": "10.00"}
    (claim,) = told(form(tmp_path, names, DATASETS % rows))
    assert claim.claim.value == ("form1.Row.Sum: XFA 20; field 25.00",)


def test_a_name_that_occurs_once_needs_no_path(tmp_path: Path) -> None:
    names = {"form1[0].Page1[0].Total[0]": "2,400.00"}
    assert told(form(tmp_path, names, DATASETS % b"<order><Total>9400</Total></order>"))


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("$1,200.00", b"1200.00000000"),
        ("1.200,00", b"1200"),
        ("5 %", b"0.05"),
        ("May 1, 2026", b"2026-05-01"),
        ("01.05.26", b"2026-05-01"),
        ("1:30 PM", b"13:30:00"),
        ("(555) 123-4567", b"5551234567"),
        ("Jane  Doe", b'<body xmlns="http://www.w3.org/1999/xhtml"><p>Jane <b>Doe</b></p></body>'),
        ("", b"1200"),
        ("1200", b""),
    ],
)
def test_values_that_say_the_same_in_another_form(tmp_path: Path, value: str, data: bytes) -> None:
    packet = DATASETS % (b"<form1><Total>" + data + b"</Total></form1>")
    assert not told(form(tmp_path, {"form1[0].Total[0]": value}, packet))


@pytest.mark.parametrize(
    ("names", "data"),
    [
        ({"form1[0].Sum[0]": "1"}, b"<form1><Sum>2</Sum><Sum>3</Sum></form1>"),  # bound in another way
        ({"form1[0].A[0].Sum[0]": "1", "form1[0].B[0].Sum[0]": "2"}, b"<order><Sum>3</Sum></order>"),
        ({"form1[0].Other[0]": "1"}, b"<form1><Sum>2</Sum></form1>"),
    ],
)
def test_data_that_belongs_to_no_one_field_is_left_alone(tmp_path: Path, names: dict[str, str], data: bytes) -> None:
    assert not told(form(tmp_path, names, DATASETS % data))


def test_choices_are_kept_in_other_words_and_left_alone(tmp_path: Path) -> None:
    packet = DATASETS % b"<form1><Country>7</Country></form1>"
    assert not told(form(tmp_path, {"form1[0].Country[0]": "Norway"}, packet, FT=Name.Ch))


def read(path: Path) -> Facts:
    start = time.process_time()
    facts = pdf.read(str(path))
    assert time.process_time() - start < LIMIT_S
    return facts


BOMB = b'<!DOCTYPE a [<!ENTITY b "%s">%s]>' % (
    b"lol" * 9,
    b"".join(b'<!ENTITY b%d "%s">' % (i, b"&b;" * 9) for i in range(9)),
)


@pytest.mark.parametrize(
    ("packet", "words"),
    [
        (BOMB + DATASETS % b"<form1><Total>&b8;</Total></form1>", "declares a document type or entities"),
        (b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "declares a document type or entities"),
        (DATASETS[:40], "cannot be read as XML"),
        (DATASETS % (b"<a>" * 200_000), "200 inside each other"),
        (DATASETS % (b"<a/>" * 1_000_000), "more than 150000 elements"),
        (b" " * (9 << 20), "larger than 8 MB"),
    ],
)
def test_a_hostile_xfa_form_ends_in_a_sentence(tmp_path: Path, packet: bytes, words: str) -> None:
    facts = read(form(tmp_path, {"form1[0].Total[0]": "1"}, packet))
    assert [p.message for p in facts.problems if words in p.message]


@pytest.mark.parametrize(
    "data",
    [b"<a/>" * 100_000, b"<Total>" + b"1" * 1_000_000 + b"x</Total>"],
)
def test_huge_data_ends_soon(tmp_path: Path, data: bytes) -> None:
    read(form(tmp_path, {"form1[0].Total[0]": "9" * 1_000_000 + "abcdefgh"}, DATASETS % data))


def test_fields_in_a_circle_end(tmp_path: Path) -> None:
    path = form(tmp_path, {"form1[0].Total[0]": "1"}, DATASETS % b"<form1><Total>2</Total></form1>")
    with pikepdf.open(path) as document:
        top = document.Root.AcroForm.Fields[0]
        top.Kids = Array([top] * 3000)
        document.save(tmp_path / "b.pdf")
    read(tmp_path / "b.pdf")
