"""The map of a file: every byte has its place, small pieces stay visible, damage and claims are where they belong."""

from itertools import pairwise

import pytest

from forensix.metadata.facts import Node
from forensix.report.filemap import MAX_PIECES, file_map
from forensix.report.structure import MAX_NODES, ShownNode, kind_of, path_to
from forensix.tasks.evidence import StructureMap


def test_pieces_and_the_bytes_between_them_fill_the_map() -> None:
    view = file_map(StructureMap("s", 100, (Node("b", 60, 20), Node("a", 0, 40))))
    assert [(p.x, p.width, p.kind == "gap") for p in view.scale] == [
        (0, 40, False),
        (40, 20, True),
        (60, 20, False),
        (80, 20, True),
    ]
    assert [n.node.name for n in view.nodes] == ["b", "a"]
    for row in view.rows:
        assert sum(p.width for p in row) == pytest.approx(100, abs=0.1)
        assert [(a.end, b.start) for a, b in pairwise(row) if a.end != b.start] == []


def test_a_piece_of_a_few_bytes_stays_visible_beside_a_large_one() -> None:
    nodes = (Node("ftyp", 0, 24), Node("mdat", 24, 900_000_000), Node("moov", 900_000_024, 100))
    view = file_map(StructureMap("s", 900_000_124, nodes))
    (row,) = view.rows
    assert min(p.width for p in row) > 2
    assert view.scale[0].width < 0.2
    assert [p.kind for p in row] == ["frame", "content", "frame"]


def test_parts_lie_below_the_whole() -> None:
    moov = Node("moov", 10, 90, "", (Node("mvhd", 18, 30), Node("udta", 48, 52, "", (Node("meta", 56, 44),))))
    first, second, third = file_map(StructureMap("s", 100, (Node("ftyp", 0, 10), moov))).rows
    complete = next(p for p in first if p.start == 10)
    assert all(complete.x <= p.x and p.x + p.width <= complete.x + complete.width + 0.01 for p in second)
    assert {p.kind for p in third} == {"metadata"}
    assert [(p.start, p.end) for p in second] == [(10, 18), (18, 48), (48, 100)]


def test_damage_is_marked_at_the_innermost_piece() -> None:
    nodes = (Node("moov", 0, 50, "", (Node("mvhd", 8, 20), Node("trak", 28, 22))), Node("mdat", 50, 50))
    view = file_map(StructureMap("s", 100, nodes, ((30, "runs past the end"), (10**9, "elsewhere"))))
    moov, mdat = view.nodes
    assert [c.damage for c in moov.children] == ["", "runs past the end"] and not moov.damage and not mdat.damage
    assert [(p.start, p.damaged) for p in view.rows[0]] == [(0, True), (50, False)]
    assert next(p for p in view.rows[1] if p.start == 28).title.endswith("Damaged: runs past the end")
    assert file_map(StructureMap("s", 10, (Node("SOS", 0, 10),), ((10, "no end"),))).nodes[0].damage == "no end"
    assert file_map(StructureMap("s", 10, (Node("IDAT", 0, 10, "cut short"),))).nodes[0].damage == "cut short"


def test_claims_are_marked_where_their_facts_lie() -> None:
    nodes = (Node("APP1", 0, 1000), Node("SOS", 1000, 99_000))
    claims = [(1, "suspect", 10), (2, "critical", 12), (3, "benign", 50_000), (4, "benign", -5), (5, "benign", 10**12)]
    marks = file_map(StructureMap("s", 100_000, nodes), claims).marks
    assert [(m.numbers, m.severity) for m in marks] == [("1, 2, 4", "critical"), ("3", "benign"), ("5", "benign")]
    assert marks[0].at == 0 < marks[1].at < marks[2].at <= 100
    assert "claim 2: byte 12 (0xc)" in marks[0].title


def test_numbers_that_would_run_into_others_on_a_phone_are_told() -> None:
    nodes = (Node("SOS", 0, 10_000),)
    claims = [(2, "critical", 0), (7, "benign", 400), (2, "benign", 1000), (6, "benign", 9300), (8, "benign", 9600)]
    marks = file_map(StructureMap("s", 10_000, nodes), claims).marks
    assert [mark.is_close for mark in marks] == [False, False, False, False, True]
    nearer = file_map(StructureMap("s", 10_000, nodes), [(22, "critical", 0), (7, "benign", 400)]).marks
    assert [mark.is_close for mark in nearer] == [False, True]


def test_marks_do_not_run_into_each_other() -> None:
    claims = [(n, "benign", n * 100) for n in range(1, 100)]
    marks = file_map(StructureMap("s", 10_000, (Node("SOS", 0, 10_000),)), claims).marks
    assert all(b.at - a.at > 0.7 * len(a.numbers) for a, b in pairwise(marks))
    assert all(len(m.numbers) < 14 for m in marks)


def test_many_pieces_are_drawn_as_runs() -> None:
    chunks = tuple(Node("IDAT", 100 + 10 * i, 10) for i in range(300))
    (row,) = file_map(StructureMap("s", 3100, (Node("IHDR", 0, 100), *chunks))).rows
    assert [p.name for p in row] == ["IHDR", "300 × IDAT"]
    mixed = tuple(Node(f"{'APP1' if i % 2 else 'DQT'}", 10 * i, 10) for i in range(300))
    (row,) = file_map(StructureMap("s", 3000, mixed)).rows
    assert len(row) <= MAX_PIECES and row[-1].end == 3000


@pytest.mark.parametrize(
    ("name", "note", "kind"),
    [
        ("SOS", "scan 1", "content"),
        ("mdat", "", "content"),
        ("APP1", "EXIF", "metadata"),
        ("APP11", "JP", "signature"),
        ("APP0", "JFIF", "frame"),
        ("object 3", "page content", "content"),
        ("object 4", "script or action", "outside"),
        ("object 5", "signature", "signature"),
        ("data after the end", "", "outside"),
        ("after the last end mark", "", "outside"),
        ("free", "", "outside"),
        ("moov", "", "frame"),
        ("tags at the end", "", "metadata"),
    ],
)
def test_pieces_have_kinds(name: str, note: str, kind: str) -> None:
    assert kind_of(Node(name, 0, 1, note)) == kind


def test_the_way_to_a_byte() -> None:
    inner = Node("IFD0", 20, 10)
    nodes = (Node("APP1", 10, 30, "", (inner,)), Node("SOS", 40, 60))
    assert [n.name for n in path_to(nodes, 25)] == ["APP1", "IFD0"]
    assert [n.name for n in path_to(nodes, 39)] == ["APP1"]
    assert path_to(nodes, 5) == path_to(nodes, 100) == path_to((), 0) == ()


def test_a_hostile_structure_is_cut() -> None:
    deep = Node("leaf", 0, 1)
    for _ in range(5000):
        deep = Node("box", 0, 1, "", (deep,))
    wide = tuple(Node("chunk", i, 1) for i in range(MAX_NODES * 2))
    view = file_map(StructureMap("s", 10, (deep, *wide)), [(1, "benign", 5)])

    def count(nodes: tuple[ShownNode, ...]) -> int:
        return sum(1 + count(n.children) for n in nodes)

    assert count(view.nodes) <= MAX_NODES
    assert count(view.nodes) + view.n_left_out == 5001 + MAX_NODES * 2


@pytest.mark.parametrize("nodes", [(), (Node("empty", 0, 0),), (Node("past the end", 50, 10**9),)])
def test_odd_structures_are_drawn(nodes: tuple[Node, ...]) -> None:
    view = file_map(StructureMap("s", 10, nodes), [(1, "suspect", 3)])
    assert all(0 <= p.x <= 100 and 0 < p.width <= 100.01 for row in view.rows for p in row)
