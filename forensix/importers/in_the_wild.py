"""In-the-Wild: speech of people in public life, real and fake.

    meta.csv: file,speaker,label with label bona-fide or spoof; the WAV files beside it

Speakers are groups. There is one split, for testing.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from forensix.errors import UsageError
from forensix.importers import layout


def rows(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the recordings; ``root`` is the folder release_in_the_wild or the one above."""
    listing = layout.need(root, "meta.csv", "release_in_the_wild/meta.csv", what="In-the-Wild")
    for row in layout.records(listing, "file", "speaker", "label"):
        name = PurePosixPath(row["file"]).name
        path = next((p for p in (listing.parent / name, listing.parent / "wav" / name) if p.is_file()), None)
        if path is None or not name:
            raise UsageError(f"{listing.name} lists {row['file'][:80]}, but {listing.parent} does not hold it")
        yield {
            "path": layout.relative(path, root),
            "label": layout.label(row["label"], listing, real=("bona-fide",), fake=("spoof",)),
            "split": "test",
            "source": "In-the-Wild",
            "language": "en",
            "speaker": row["speaker"],
            "group_id": row["speaker"],
        }
