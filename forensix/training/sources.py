"""Lists of labelled files in public repositories, and the files' bytes.

A list is a CSV file with a row a file: ``split``, ``repo`` (owner/name), ``ref``, ``path``, ``blob`` (git's hash, where
known), ``label``, and who made a fake in a column named ``generator``, ``system`` or ``tool``. The bytes come from a
folder of repositories named ``owner+name``: checkouts, clones, or bare git folders.
"""

import hashlib
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from forensix.errors import InputNotFound, UsageError
from forensix.models import TrainingSource

MADE_BY = ("generator", "system", "tool")
NEEDED = ("split", "repo", "ref", "path", "label")
_SAME_FOR_ALL = "HEAD"


def read_list(path: str | Path, *, split: str | None = None) -> pd.DataFrame:
    """Read a list and drop what would let one file stand on two sides.

    Returns
    -------
    A table of text with the columns of the file, the maker's renamed ``made_by``. Rows of a blob that occurred before
    are dropped; all rows of a blob that is labelled in two ways are.

    Raises
    ------
    UsageError
        A column is missing, or a repository or a blob is in two splits.
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if missing := [name for name in NEEDED if name not in table]:
        raise UsageError(f"{path} has no column {', '.join(missing)}: a list needs {', '.join(NEEDED)}")
    table = table.rename(columns={name: "made_by" for name in MADE_BY if name in table})
    for column in ("made_by", "blob"):
        if column not in table:
            table[column] = ""
    for column in ("repo", "blob"):
        splits = table[table[column] != ""].groupby(column)["split"].nunique()
        if (mixed := splits.index[splits > 1]).size:
            raise UsageError(f"{path}: the {column} {mixed[0]} is in two splits")
    known = table["blob"] != ""
    labels = table[known].groupby("blob")["label"].nunique()
    table = table[~table["blob"].isin(labels.index[labels > 1])]
    table = table[~(table["blob"].duplicated() & (table["blob"] != ""))]
    return (table if split is None else table[table["split"] == split]).reset_index(drop=True)


def counted(table: pd.DataFrame) -> tuple[TrainingSource, ...]:
    """Return what a card says of the rows that were learnt from, with ``repo``, ``label`` and ``licence``."""
    counts = table.groupby(["repo", "label", "licence"], dropna=False).size().reset_index(name="n")
    rows = counts.rename(columns={"repo": "source"}).to_dict("records")
    return tuple(TrainingSource.model_validate(row) for row in rows)


@dataclass
class Repositories:
    """The repositories in a folder; each git folder is asked by one process, which is kept until `close`."""

    folder: Path
    _git: dict[Path, "subprocess.Popen[bytes]"] = field(default_factory=dict, repr=False)

    def has(self, repo: str) -> bool:
        """Tell whether a repository is there."""
        return (self.folder / repo.replace("/", "+")).is_dir()

    def read(self, repo: str, path: str, *, blob: str = "", ref: str = "") -> bytes:
        """Return the bytes of a file: its blob where that is there, else what ``ref`` or HEAD has at ``path``.

        Raises
        ------
        InputNotFound
            The repository is not there, or has no such file, or it is not the one that ``blob`` names.
        """
        root = self._root(repo)
        git = _git_folder(root)
        if git is None:
            return self._of_checkout(root, path, blob)
        for name in filter(None, (blob, *(f"{at}:{path}" for at in dict.fromkeys((ref, _SAME_FOR_ALL)) if at))):
            if (data := self._ask(git, name)) is not None and blob in ("", blob_hash(data)):
                return data
        raise InputNotFound(f"{repo} has no file {path}{f' with the blob {blob}' if blob else ''}")

    def files(self, repo: str) -> list[tuple[str, str]]:
        """Return the path and the blob of every file that HEAD has, or of a checkout, in order of path.

        Raises
        ------
        InputNotFound
            The repository is not there.
        """
        root = self._root(repo)
        git = _git_folder(root)
        if git is None:
            paths = (path for path in root.rglob("*") if path.is_file())
            return sorted((path.relative_to(root).as_posix(), blob_hash(path.read_bytes())) for path in paths)
        command = ["git", f"--git-dir={git}", "ls-tree", "-r", "-z", "HEAD"]
        listed = subprocess.run(command, check=True, capture_output=True).stdout.decode(errors="surrogateescape")
        rows = (line.split("\t", 1) for line in listed.split("\0") if line)
        return sorted((path, about.split()[2]) for about, path in rows if about.split()[1] == "blob")

    def close(self) -> None:
        """End the processes."""
        for process in self._git.values():
            process.kill()
            process.communicate()
        self._git.clear()

    def __enter__(self) -> "Repositories":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _root(self, repo: str) -> Path:
        root = self.folder / repo.replace("/", "+")
        if not root.is_dir():
            raise InputNotFound(f"{repo} is not in {self.folder} (a folder named {root.name} is expected)")
        return root

    @staticmethod
    def _of_checkout(root: Path, path: str, blob: str) -> bytes:
        file = (root / path).resolve()
        if not file.is_relative_to(root.resolve()) or not file.is_file():
            raise InputNotFound(f"{root} has no file {path}")
        data = file.read_bytes()
        if blob not in ("", blob_hash(data)):
            raise InputNotFound(f"{file} is not the file with the blob {blob}")
        return data

    def _ask(self, git: Path, name: str) -> bytes | None:
        if "\n" in name:
            return None
        if git not in self._git:
            command = ["git", f"--git-dir={git}", "cat-file", "--batch"]
            self._git[git] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        process: Any = self._git[git]
        process.stdin.write(name.encode() + b"\n")
        process.stdin.flush()
        header = process.stdout.readline().split()
        if len(header) != 3 or not header[2].isdigit():
            return None
        data = process.stdout.read(int(header[2]))
        process.stdout.read(1)
        return data if header[1] == b"blob" else None


def _git_folder(root: Path) -> Path | None:
    return next((p for p in (root, root / ".git", root / "repo", root / "repo" / ".git") if _is_git(p)), None)


def _is_git(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir()


def blob_hash(data: bytes) -> str:
    """Return the name that git gives a file's bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
