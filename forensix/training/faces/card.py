"""The card of forensix-face: what it was trained on, and what rules say of sources that they did not see."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forensix.calibration import Calibration, fit_platt, sigmoid
from forensix.faces.align import ALIGNED_PX
from forensix.models import Measurement, ModelCard, Output, Parts
from forensix.models.architectures.faces import VARIANT
from forensix.training.backbone import origin_of
from forensix.training.bands import AS_IT_IS, VIDEO, with_band
from forensix.training.faces import figures
from forensix.training.faces.clips import noted, recorded_gaps
from forensix.training.faces.features import AS_IS, CONTRASTED, RETOUCHED, SMOOTHED
from forensix.training.faces.fit import POOLING, WINDOW_SHARE, HeldOut, Rows, file_weights
from forensix.training.faces.steadiness import Steady
from forensix.training.sources import counted

ABOUT = "training faces of {n} repositories, each scored without its repository and maker, on which the bounds were set"
LOOKS = (
    "Some hundred variants were looked at on the folds before this one was taken. Before what is said of the picture "
    "was weighed in, the development rows of the corpus were scored for twelve candidates, four of them networks of "
    "other kinds that came before, and those of the list for the last nine. The last but six was a network with the "
    "gap of fine detail joined to the score of videos; it called 3 of 17 recorded videos of the corpus fake. The "
    "folds, looked at again, had no use for the gap in the score. The last but five had learnt that portraits of one "
    "repository are large where they are generated, as their photographs came scaled down; it told those of the "
    "corpus with an AUC of 0.623. The last but four took statistics of a crop as a whole, not of its parts, and the "
    "last but three had no look at faint detail. The last but two also learnt from frames of videos and had a rule of "
    "clips alone; it was better on the folds, told the corpus with 0.653 and the list's clips with 0.762, and did not "
    "ship. The last but one was penalised more and gave faint detail half the weight; it told the corpus with 0.740 "
    "and the list's clips with 0.782. With the picture weighed in, which the folds asked for, the pictures of the "
    "corpus and of the list were scored once more, at five weights around the one that the folds gave. How steady "
    "faces of videos are was weighed in after some sixty variants of it on the folds; clips of the list and the "
    "corpus were then scored once more. There it raised a recorded face that hardly moves by 3.3 and called it fake, "
    "after which what it may add was bounded by what the folds can show, and both were scored again. Once GIFs, in "
    "which no face is judged, were left out of training, both were scored once more, and again with a rule of its own "
    "for portraits by StyleGAN, which the folds asked for, and once more when the picture was judged with one as "
    "well. When photographs that a video shows came to be judged by their look alone, the clips and the videos were "
    "scored once more; none of them is one, and nothing moved. When it learnt from retouched views as well, which "
    "told the clips of the folds and retouched pictures better, all were scored once more. It tells the list's clips "
    "with 0.764 (0.784 before) and shipped for the fewer retouched photographs that it accuses. When what is said of "
    "parts put into faces came to count, the list's clips were scored at three weights of it, and the corpus at one. "
    "When smooth faces came to be called nothing, and the bound to hold for smoothed faces and for such of more "
    "contrast, both were scored at two bounds; no score moved. The lower one, 0.683, did not hold for more contrast, "
    "called 2 of the list's recorded clips fake, and was not taken. When pictures that are small or look painted came "
    "to say nothing of the faces in them, and what others say to be weighed and bounded on edited ones too, the "
    "corpus and the list were scored once more, and once more when the bounds came to hold for every source, which "
    "moved no score."
)
LIMITS = (
    "It tells faces that were generated whole from photographed ones, above all those of diffusion models; portraits "
    "by StyleGAN score higher than photographs, but seldom reach the bound where they were scaled down. Of swapped "
    "faces and of faces put together by hand it sees hardly more than chance, of lip-sync little more, as most of "
    "what it looks at is recorded; forensix-face-regions, which looks for parts put in, raises what it says of them "
    "by little and seldom above the bound. In videos few made faces lie above its bound, most of them generated or "
    "driven as a whole. Recorded faces that hardly move, or lie under a smoothing filter, can score higher in a "
    "video. No score says that a face is untouched. It names no type of manipulation. Kinds of photographs that "
    "training lacked and studio portraits can raise the score, and retouching does: that is why a smooth face in a "
    "picture is not called fake whatever its score, and generated faces that are smooth are missed for it. In a "
    "picture what forensix-image says of all of it can carry a face over the bound that by itself is undecided. Of "
    "portraits whose contrast was raised more reach the bound than of others."
)
EDITED = {
    RETOUCHED: "retouched alike",
    SMOOTHED: "smoothed alike",
    CONTRASTED: "of more contrast",
}
WITH_PARTS = "with what is said of parts put in"
LICENCE = (
    "Apache-2.0 for code, the pretrained weights and the rule; most repositories of the training faces state no "
    "licence for them, see trained_on: for research"
)


def calibration_of(table: pd.DataFrame, logits: NDArray[np.float64]) -> Calibration:
    """Return the calibration of held-out logits of the pictures of a table."""
    stills = table["static"].to_numpy(dtype=bool)
    fake, weights = table["fake"].to_numpy(dtype=bool)[stills], file_weights(table)[stills]
    return fit_platt(logits[stills], fake, weights=weights)


def make_card(
    table: pd.DataFrame,
    held_out: HeldOut,
    steady: Steady,
    trained_on: pd.DataFrame,
    command: str,
    *,
    fused: HeldOut | None = None,
    parts: Parts | None = None,
    of_parts: Rows | None = None,
) -> ModelCard:
    """Return the card with calibration, bounds and figures from held-out logits; saving adds hash and parameters.

    Parameters
    ----------
    table
        Faces, with the gap of fine detail of clips in a column ``gap``.
    held_out
        The network's logit of each face by a rule that did not see its source. Faces that are smooth by their textures
        are not called fake, and counted so where bounds are set.
    steady
        What is added to it for how steady the face of a clip is.
    trained_on
        Faces and pictures with ``repo``, ``label`` and ``licence``.
    fused
        The same logits with what else is weighed in: bounds and figures are of these. Videos are judged without, and
        called fake no sooner than pictures would be.
    parts, of_parts
        How what is said of parts put into faces counts, and its calibrated logits (n,). NaN of sources that were learnt
        from there, for which a part put in counts as likely as not. Bounds are with it; of an edited face it is what
        was said of the face as it is.
    """
    stills = table["static"].to_numpy(dtype=bool)
    calibration, of_crops = (calibration_of(table, values) for values in (held_out.said.as_is, held_out.crops))
    judged = fused or held_out
    said = judged.said
    clips = table[~stills].reset_index(drop=True)
    about = ABOUT.format(n=table["repo"].nunique())
    card = ModelCard(
        name="forensix-face",
        component="face_classifier",
        summary="Generated or recorded faces: a pretrained network at several depths, of crops by parts and windows, "
        "with a rule of its own for StyleGAN's portraits.",
        architecture="faces",
        preprocessing={
            "size_px": ALIGNED_PX,
            "channels": "RGB",
            "range": [-1, 1],
            "windows": {"share": WINDOW_SHARE, "without": without_windows(calibration, of_crops)},
            "pretrained": origin_of(VARIANT),
        },
        output=Output(labels=("fake",), fake=0),
        calibration=calibration,
        calibrated_on=f"pictures among the {about}. {LOOKS}",
        pooling=POOLING,
        detail_gap=recorded_gaps(clips),
        steadiness=steady.rule,
        parts=parts,
        trained_on=counted(trained_on),
        limits=LIMITS,
        licence=LICENCE,
        paper="Tan and Le, EfficientNet: rethinking model scaling for convolutional neural networks, ICML 2019",
        seed=0,
        command=command,
        weights="forensix-face.safetensors",
        sha256="",
    )

    def with_parts(values: Rows) -> Rows:
        return values if parts is None or of_parts is None else _with_parts(values, parts, np.nan_to_num(of_parts))

    def scored(said_of: HeldOut) -> pd.DataFrame:
        kinds = {AS_IS: with_steadiness(calibration, said_of.said.as_is, steady), **said_of.edited}
        of_kinds = {kind: with_parts(calibration.slope * raw + calibration.intercept) for kind, raw in kinds.items()}
        return pd.concat([_scored(table, kind, logits, held_out.textures) for kind, logits in of_kinds.items()])

    alone = scored(held_out)
    # Swapped faces lie as often below any bound as recorded ones: nothing is called untouched.
    card = with_band(
        card,
        scored(judged),
        command,
        about=about,
        only_supported=True,
        only_upper=True,
        as_videos=alone[alone["kind"] != VIDEO],
    )
    whole = calibration.slope * with_steadiness(calibration, said.as_is, steady) + calibration.intercept
    logits = with_parts(whole)
    more: list[Measurement] = [
        *figures.of_stills(table[stills].reset_index(drop=True), said.each(lambda of: of[stills]), about, command),
        *figures.figures_of(clips, logits[~stills], about, command),
        *figures.figures_of(clips, calibration.slope * said.as_is[~stills], f"{about}, by crops alone", command),
        *figures.noted_shares(clips, noted(clips), about, command),
    ]
    if of_parts is not None:
        apart = np.isfinite(of_parts)
        both = {"by the face as a whole": whole[apart], WITH_PARTS: logits[apart]}
        more += figures.of_parts(table[apart].reset_index(drop=True), both, command)
    return card.model_copy(update={"measured": (*card.measured, *more)})


def _with_parts(logits: Rows, parts: Parts, of_parts: Rows) -> Rows:
    joined, looked_at = logits.copy(), np.isfinite(logits)
    joined[looked_at] = parts.logit(logits[looked_at], of_parts[looked_at])
    return joined


def _scored(table: pd.DataFrame, kind: int, logits: Rows, textures: Mapping[int, Rows]) -> pd.DataFrame:
    """Return what was said of faces as they are or edited in some way; smooth ones are not called fake."""
    looked_at = np.isfinite(logits)
    smooth = textures.get(kind, np.full(len(table), np.nan)) < POOLING.min_texture
    return table.loc[looked_at, ["repo", "label"]].assign(
        kind=np.where(table.loc[looked_at, "static"], "image", VIDEO),
        condition=EDITED.get(kind, AS_IT_IS),
        score=sigmoid(logits[looked_at]),
        withheld=smooth[looked_at],
    )


def with_steadiness(calibration: Calibration | None, raw: Rows, steady: Steady) -> Rows:
    """Return raw logits with what is said of steadiness added, in the units that a calibration takes."""
    assert calibration is not None, "the card of a detector has a calibration"
    return raw + steady.logits / calibration.slope


def without_windows(calibration: Calibration, of_crops: Calibration) -> tuple[float, float]:
    """Return slope and intercept that bring the logit of crops alone to where a calibration expects that of both."""
    shift = of_crops.intercept - calibration.intercept
    return round(of_crops.slope / calibration.slope, 4), round(shift / calibration.slope, 4)
