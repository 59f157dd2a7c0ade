"""Where the facts of a Matroska file stand, in words that its readers use."""

from pathlib import Path

from forensix.metadata.av import reader as container
from tests.metadata.av.test_container_facts import video


def test_the_place_of_a_tag_says_its_name(tmp_path: Path) -> None:
    path = video(tmp_path / "a.mkv", tags={"location": "+48.8577+002.2950/"})
    facts = container.read(str(path), "mkv")
    tag = facts.fact("container.tag.LOCATION")
    assert tag is not None and tag.offset == path.read_bytes().index(b"+48.8577")
    assert tag.where == "Segment/Tags/Tag/SimpleTag/TagString LOCATION"
    assert facts.fact("gps.latitude").where == tag.where
