"""What forensix-image says of the pictures around faces, by heads that did not see their sources.

Only of those that an analysis asks (`forensix.tasks.fusion.opinion_of_picture`): pictures that are small, look painted
or are mostly even areas tell nothing of the faces in them. As faces are measured edited as well, so are the pictures
around them, each edited as a whole as its face was.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.calibration import Calibration
from forensix.models.architectures.pictures import Head
from forensix.synthetic.content import doubt, doubt_if_fake
from forensix.training.faces.crops import still
from forensix.training.faces.features import EDITS, edited_picture, is_judged
from forensix.training.images import fit as images_fit
from forensix.training.images import train as images_train
from forensix.training.images.features import of_views
from forensix.training.said import Logits, Said
from forensix.training.sources import Repositories

RGB = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Around:
    """Logits of the picture around each face, (n,); NaN of clips and of pictures that are not asked."""

    said: Said
    edited: Mapping[int, Logits]
    """Of pictures that were edited, by kind (`features.EDITS`)."""

    def calibrated(self, calibration: Calibration) -> "Around":
        """Return calibrated logits of raw ones."""
        edited = {kind: calibration.slope * raw + calibration.intercept for kind, raw in self.edited.items()}
        return Around(self.said.calibrated(calibration), edited)


def pictures_around(
    faces: pd.DataFrame,
    prepared: images_train.Prepared,
    raw: Said,
    heads: Mapping[int, Head],
    repositories: Path,
) -> Around:
    """Return the raw logits of the picture around each face of a table.

    Of pictures that the picture detector trained on they are ``raw``, but where they are edited. Others are looked at
    now: by the head that did not see their source, by all of them where none did.
    """
    keys = zip(prepared.table["repo"], prepared.table["path"], strict=True)
    places = {key: at for at, key in enumerate(keys)}
    nothing = np.full(len(faces), np.nan)
    around = Around(raw.each(lambda _: nothing.copy()), {kind: nothing.copy() for kind in EDITS})
    judged, looked_at = is_judged(faces), []

    def pictures() -> Iterator[RGB]:
        with Repositories(repositories) as opened:
            for at in np.flatnonzero(faces["static"]):
                row = faces.iloc[at].to_dict()
                rgb = still(row, opened)
                assert rgb is not None, "its face was cut from it"
                if doubt(rgb) or doubt_if_fake(rgb):
                    continue
                place = None if row["short_px"] else places.get((row["repo"], row["path"]))
                if place is None:
                    looked_at.append((row, at, around.said.as_is))
                    yield rgb
                else:
                    for condition, logits in around.said.conditions.items():
                        logits[at] = raw.conditions[condition][place]
                if judged[at]:
                    for kind, edited in edited_picture(rgb, row["name"]).items():
                        looked_at.append((row, at, around.edited[kind]))
                        yield edited

    of_repo = dict(zip(prepared.table["repo"], prepared.folds, strict=True))
    of_maker = {maker: fold for maker, fold in zip(prepared.table["made_by"], prepared.folds, strict=True) if maker}
    statistics = of_views(pictures())
    for (row, at, logits), views in zip(looked_at, statistics, strict=True):
        fold = of_repo.get(row["repo"], of_maker.get(row["made_by"]))
        unseen = heads.values() if fold is None else [heads[int(fold)]]
        logits[at] = np.mean([images_fit.head_logits(head, views[None])[0] for head in unseen])
    return around
