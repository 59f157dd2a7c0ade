"""What the report on faces says beside their scores, in a sentence each, and why a verdict on them is withheld."""

from collections.abc import Iterator, Sequence

from forensix.faces.turned import WORDS
from forensix.faces.verdict import ODD_SHARE, odd_gap
from forensix.media import Media
from forensix.models import DetailGap
from forensix.synthetic.content import MAX_CLEAR, is_drawn, looks_illustrated, looks_painted
from forensix.tasks.face_evidence import MAX_FACES_SHOWN, n_measured
from forensix.tasks.judged_faces import JudgedFace
from forensix.tasks.verdicts import score_text

MAX_TOLD = 3
PAINTED_NOTE = (
    "The picture is full of detail and of edges between colours, as paintings are, and painted faces score as "
    "generated ones do: nothing is told of them."
)
ILLUSTRATED_NOTE = (
    "The picture looks drawn, as illustrations and comics do, and drawn faces score as generated ones do: nothing is "
    "told of them."
)
DRAWN_NOTE = (
    "Most of the picture is even areas, as in screens, figures and drawings: detection does not work on these, and "
    "nothing is told of faces in them."
)
CUT_OUT_NOTE = (
    "Parts of the picture are transparent, as no camera stores them: it was drawn or cut out, and detection does not "
    "work on drawn faces, so nothing is told of faces in it."
)


def why_withheld(media: Media, accused: Sequence[JudgedFace]) -> str:
    """Return in a sentence why faces in a picture that score as fake are not called so; empty where they are."""
    picture = media.image()
    if is_drawn(picture):
        return DRAWN_NOTE
    if media.clear_share() > MAX_CLEAR:
        return CUT_OUT_NOTE
    if looks_painted(picture):
        return PAINTED_NOTE
    if looks_illustrated(picture):
        return ILLUSTRATED_NOTE
    return " ".join(smooth_notes(accused)) if all(face.is_smooth for face in accused) else ""


def smooth_notes(accused: Sequence[JudgedFace]) -> Iterator[str]:
    """Yield what is said of those of the faces that score as fake that are smooth."""
    for face in [face for face in accused if face.is_smooth][:MAX_TOLD]:
        yield (
            f"Face {face.track.id} holds hardly any fine detail between its edges, as portraits do that a filter"
            " smoothed, and these score as generated ones do: it is not called manipulated."
        )


def left_out_notes(n_faces: int, kind: str, *, explained: bool) -> Iterator[str]:
    """Yield that only some of very many faces are drawn by themselves; a result that is ``explained`` shows each."""
    if n_faces > MAX_FACES_SHOWN and (kind == "video" or not explained):
        what = "have a curve of their own" if explained else "are drawn one by one"
        yield f"Of the {n_faces} faces the {MAX_FACES_SHOWN} that score highest {what}."


def doubt_notes(faces: Sequence[JudgedFace]) -> tuple[str, ...]:
    """Return which of several faces are not judged, and why; of a single one the summary says it."""
    doubtful = [face for face in faces if face.doubt and len(faces) > 1]
    notes = [f"Face {face.track.id} is not judged: {face.doubt}." for face in doubtful[:MAX_TOLD]]
    if (n_more := len(doubtful) - MAX_TOLD) > 0:
        more = "1 more face is" if n_more == 1 else f"{n_more} more faces are"
        notes.append(f"{more} not judged, for being small, blurred or short.")
    return tuple(notes)


def turned_notes(faces: Sequence[JudgedFace]) -> Iterator[str]:
    """Yield how a picture was turned until the faces in it stood upright, where it was."""
    if turns := next((face.track.turns for face in faces), 0):
        many = len(faces) > 1
        yield (
            f"The picture lies on its side or its head: the {'faces were' if many else 'face was'} found, and"
            f" {'are' if many else 'is'} judged, turned {WORDS[turns]}."
        )


def steadiness_notes(faces: Sequence[JudgedFace]) -> Iterator[str]:
    """Yield of the most suspect faces what was made of how steady they are, where that moves their score or cannot."""
    for face in [face for face in faces if not face.doubt][:MAX_TOLD]:
        if face.is_still:
            yield (
                f"The mouth and the eyes of face {face.track.id} hardly move while it is seen, as in a photograph that"
                " is shown, so it is judged by its look alone."
            )
        if face.steadiness_logit:
            raised, steadier = ("raises", "steadier") if face.steadiness_logit > 0 else ("lowers", "less steady")
            yield (
                f"Face {face.track.id} scores {score_text(face.crops_score)} by its crops; that its fine detail is"
                f" {steadier} from frame to frame than is usual {raised} that to {score_text(face.score)}."
            )


def detail_notes(faces: Sequence[JudgedFace], lacked: DetailGap | None) -> Iterator[str]:
    """Yield what is said of faces with less fine detail beside their surroundings than nearly all recorded ones."""
    n = n_measured(faces)
    if lacked is None or not n:
        return
    odd = [face for face in faces if not face.doubt and face.detail_gap > odd_gap(lacked, n)]
    share = f"{100 * (1 - ODD_SHARE / n):.3g} %"
    among = f" (the last {100 * ODD_SHARE:.0f} % are shared among the {n} faces looked at)" if n > 1 else ""
    for face in odd[:MAX_TOLD]:
        yield (
            f"Face {face.track.id} holds less fine detail than its surroundings, beyond {share} of the recorded faces"
            f" measured{among}. Faces put in by a program often do; so do beauty filters, soft light, make-up and faces"
            " before something sharper, so it is a reason to look, not a proof."
        )


def placement_notes(aligned: Sequence[int]) -> Iterator[str]:
    """Yield what is said of the face of a picture that was cut as FFHQ's are."""
    for number in aligned:
        yield (
            f"The eyes and the mouth of face {number} lie where StyleGAN's generators put them. So do those of"
            " photographs cut for a data set of faces (FFHQ, CelebA-HQ), and hardly ever those of others: it tells how"
            " the picture was cut, not who drew it."
        )


def region_notes(faces: Sequence[JudgedFace]) -> Iterator[str]:
    """Yield what is said of faces of which a part differs from the rest."""
    for face in [face for face in faces if face.differs][:MAX_TOLD]:
        yield (
            f"A part of face {face.track.id} differs from the rest of it, as in fewer than 5 % of the recorded faces"
            " measured; the heat map shows where. Faces that were swapped or put together do so more often, but so do"
            " retouched and made-up ones, glasses and hard light, so it is a reason to look, not a proof."
        )
