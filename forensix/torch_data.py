"""What of a manifest torch takes: files decoded as forensix decodes them, within its limits and in its sandbox.

>>> from forensix import Manifest, small
>>> dataset = Manifest.read(small.folder("images")).to_torch()
>>> picture, fake = dataset[0]
>>> tuple(picture.shape), fake
((3, 256, 256), 0)
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.utils.data import Dataset

from forensix.errors import UnsupportedMedia
from forensix.media import Limits, Media, open_media

if TYPE_CHECKING:
    from forensix.manifest import Manifest


class MediaDataset(Dataset[tuple[Any, int]]):
    """The files of a manifest by number: ``(content, label)``, label 1 for fake and 0 for real.

    ``content`` is uint8 RGB (3, height, width) for pictures and float32 (samples,) in [-1, 1) at 16 kHz for sound; or
    what ``transform`` makes of it. It is decoded when it is asked for, so workers of a ``DataLoader`` share the work.

    Raises
    ------
    InputError
        When asked for a file that cannot be decoded, or is neither picture nor sound: of videos, frames are to be
        taken first.
    """

    def __init__(self, manifest: "Manifest", transform: Callable[[Any], Any] | None = None) -> None:
        self.manifest, self.transform = manifest, transform
        self._paths, self._labels = manifest.paths(), manifest.is_fake()

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, at: int) -> tuple[Any, int]:
        """Return one decoded file and its label."""
        with open_media(self._paths[at], limits=Limits()) as media:
            content: Any = decoded(media)
        return (content if self.transform is None else self.transform(content)), self._labels[at]


def decoded(media: Media) -> torch.Tensor:
    """Return a picture as uint8 (3, height, width), or sound as float32 (samples,).

    Raises
    ------
    InputError
        It cannot be decoded, or is neither.
    """
    if media.kind == "image":
        return torch.from_numpy(media.image().copy()).permute(2, 0, 1)
    if media.kind == "audio":
        return torch.from_numpy(media.samples().astype("float32")) / 32768
    raise UnsupportedMedia(f"{media.name} is {media.kind}: pictures and sound become tensors, of videos take frames")
