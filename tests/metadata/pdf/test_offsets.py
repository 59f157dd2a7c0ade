"""Facts of a PDF point at the entry that holds their value, and at nothing where none does."""

from pathlib import Path

import pikepdf

from forensix.metadata.facts import Fact
from forensix.metadata.pdf import reader as pdf


def document(path: Path, mode: pikepdf.ObjectStreamMode) -> bytes:
    with pikepdf.new() as built:
        built.add_blank_page()
        built.docinfo["/Title"] = "Rechnung (zwei) für Łódź"
        built.docinfo["/Producer"] = r"A \ B"
        built.Root.Lang = pikepdf.String("de-AT")
        built.save(path, object_stream_mode=mode, static_id=True)
    return path.read_bytes()


def facts_of(path: Path) -> dict[str, Fact]:
    return {fact.key: fact for fact in pdf.read(str(path)).items}


def test_the_offset_is_that_of_the_entry(tmp_path: Path) -> None:
    data = document(tmp_path / "a.pdf", pikepdf.ObjectStreamMode.disable)
    facts = facts_of(tmp_path / "a.pdf")
    for key in ("pdf.info.Title", "pdf.info.Producer", "pdf.language"):
        offset = facts[key].offset
        assert offset is not None, key
        assert data[offset:].startswith(b"/" + {"language": b"Lang"}.get(key[4:], key.split(".")[-1].encode()))
    assert facts["pdf.info.Title"].value == "Rechnung (zwei) für Łódź"


def test_what_is_compressed_or_saved_over_is_not_pointed_at(tmp_path: Path) -> None:
    document(tmp_path / "a.pdf", pikepdf.ObjectStreamMode.generate)
    assert facts_of(tmp_path / "a.pdf")["pdf.language"].offset is None
    data = document(tmp_path / "b.pdf", pikepdf.ObjectStreamMode.disable)
    at = data.index(b"(A \\\\ B)")
    entry = data[:at].rindex(b"/Producer")
    (tmp_path / "b.pdf").write_bytes(data[:entry] + data[entry:].replace(b"/Producer", b"/Produces", 1))
    facts = facts_of(tmp_path / "b.pdf")
    assert facts["pdf.info.Produces"].offset == entry and "pdf.info.Producer" not in facts
