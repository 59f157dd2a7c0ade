"""Trees of empty files, and the rows that come of them."""

from pathlib import Path

from forensix import Manifest


def touch(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"")


def by_path(manifest: Manifest) -> dict[str, dict[str, object]]:
    manifest.check()
    table = manifest.table.astype(object).where(manifest.table.notna(), None)
    return {row["path"]: row for row in table.to_dict("records")}
