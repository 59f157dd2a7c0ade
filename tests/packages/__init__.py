"""Packages of others, as tests install them: a detector, and a whole task."""

import shutil
import tomllib
from pathlib import Path

from forensix.models import registry
from forensix.tasks import catalogue, task


def install(folder: Path) -> Path:
    """Install the test packages as pip would: the modules, and metadata that names their entry points."""
    for package in Path(__file__).parent.iterdir():
        if not (package / "pyproject.toml").is_file():
            continue
        fields = tomllib.loads((package / "pyproject.toml").read_text())["project"]
        for module in package.glob("*.py"):
            shutil.copy(module, folder)
        metadata = folder / f"{fields['name']}-{fields['version']}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {fields['name']}\nVersion: {fields['version']}\n"
            f"Summary: {fields['description']}\n"
        )
        lines = []
        for group, entries in fields["entry-points"].items():
            lines += [f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())]
        (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return folder


def forget() -> None:
    """Have this process look for installed packages anew."""
    own = (catalogue.entries, catalogue._described, catalogue.leave_out, task.load_task)
    for known in (*own, registry._entries, registry._build):
        known.cache_clear()
