"""The words and number formats of a report: the same in HTML, notebook and terminal."""

import math
import re

from forensix.schema import SEVERITIES, ForensicResult
from forensix.tasks.catalogue import Verdict, describe
from forensix.tasks.evidence import Outcome

HOW_TO_READ = (
    "A score runs from 0 (recorded, untouched) to 1 (fake). It is calibrated as if real and fake were equally likely "
    "before looking: where fakes are rare, the same score means less. A verdict is the judgement of a statistical "
    "model or of a rule about one file. It supports an examination and does not replace one, and a score near 0 means "
    "that nothing was found, not that the file is authentic. Inconclusive speaks for neither side: real and fake files "
    "score like that, or there was too little to judge."
)

HOW_TO_READ_CLAIMS = (
    "A claim follows from what a file says about itself or from how it is built; its explanation names the reason. It "
    "is critical, suspect or benign by what it means for the file, and claims are not added up. Each opens to the "
    "facts it rests on and their bytes: xxd -s BYTE -l 64 FILE shows the same bytes of the file. Missing information "
    "proves nothing: it can be removed or forged, so a file without suspect claims is not proved authentic."
)

LIMITS_OF_CLAIMS = (
    "It reads what a file says of itself, how it is built, and what some edits leave in pixels and samples. All of "
    "that can be removed or forged: a file that was made anew with care shows nothing."
)

ABOUT_FEATURES = (
    "What is unusual of a voice is a reason to listen: it moves no score and makes no voice synthetic. f0 is the "
    "pitch; f1 and f2 are resonances of throat and mouth; jitter and shimmer are how much the length and the strength "
    "of a period change from one to the next; naturalness is how clear a voice is, not hoarse or noisy; pitch "
    "consistency is the range of the pitch in semitones (st); spectral artifacts is how much the sound from 5 to 7 kHz "
    "changes from moment to moment; temporal patterns are syllables a second."
)

MANIPULATIONS = {
    "faceswap": "face swap",
    "face_reenactment": "face reenactment",
    "lipsync": "lip sync",
    "face_synthesis": "face synthesis",
}

SEVERITY_MEANING = {
    "critical": "speaks against the file being what it seems",
    "suspect": "calls for an explanation",
    "benign": "describes the file",
}

SYMBOLS = {
    "fake": "▲",
    "critical": "▲",
    "suspect": "◆",
    "real": "●",
    "benign": "●",
    "unsure": "◐",
    "none": "○",
    "failed": "✕",
}
"""What stands before a verdict or a claim, by its tone; colour never stands alone."""

INCONCLUSIVE = Verdict("Inconclusive", "unsure", "real and fake media score like this")
UNJUDGED = Verdict("Inconclusive", "unsure", "what is there cannot be judged")
"""Where no score decides: there is none, or the medium is of a kind or size that scores say nothing of."""
UNTOLD = Verdict("Not called fake", "unsure", "real or undecided")
"""Where whoever judged it does not tell these apart."""
FAILED = Verdict("Failed", "failed", "the analysis did not finish")


ENDED_EARLY = "The run ended before it was through: inputs that are not listed here were not analysed."


def plural(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "claim"), plural(3, "claim")
    ('1 claim', '3 claims')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def verdict_class(outcome: Outcome) -> str:
    """Return what an outcome comes to, in one word.

    The class name of its result, or ``"inconclusive"``; for claims, the gravest severity there is, or ``"no_claims"``.
    """
    result = outcome.result
    if outcome.inconclusive:
        return "inconclusive"
    if isinstance(result, ForensicResult):
        return next((s for s in SEVERITIES if getattr(result.claim_lists, s)), "no_claims")
    return str(getattr(result, "class_name", "done"))


def verdict(task: str, outcome: Outcome) -> Verdict:
    """Return an outcome's verdict in words: the task's own for its class, else the class itself."""
    name, result = verdict_class(outcome), outcome.result
    if outcome.inconclusive:
        return UNTOLD if outcome.is_untold else INCONCLUSIVE
    if isinstance(result, ForensicResult):
        counts = [(s, len(getattr(result.claim_lists, s))) for s in SEVERITIES]
        meaning = ", ".join(f"{n} {s}" for s, n in counts if n)
        if name == "no_claims":
            return Verdict("No claims", "none", "no rule found anything to say about the file")
        word = {"critical": "Critical claims", "suspect": "Suspect claims", "benign": "Nothing suspect"}[name]
        return Verdict(word, name, meaning)
    plain = Verdict(name.replace("_", " ").capitalize(), name if name in ("fake", "real") else "none", "")
    known = describe(task).verdicts
    return known["part"] if outcome.of_part and name == "fake" and "part" in known else known.get(name, plain)


def task_title(task: str) -> str:
    """Return the title of a task."""
    return describe(task).title


def number_text(value: float) -> str:
    """Return a measured value with four significant digits and no exponent where it can be avoided.

    Examples
    --------
    >>> number_text(1523.46), number_text(0.01234), number_text(12.0)
    ('1,523', '0.01234', '12')
    """
    if not math.isfinite(value):
        return "not a number"
    if value == 0 or 1e-4 <= abs(value) < 1e7:
        digits = 4 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))
        text = f"{value:,.{digits}f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    return f"{value:.3g}"


def size_text(n_bytes: int) -> str:
    """Return a size in the unit that suits it, decimal prefixes.

    Examples
    --------
    >>> size_text(812), size_text(1_234_567)
    ('812 bytes', '1.23 MB')
    """
    if n_bytes < 1000:
        return plural(n_bytes, "byte")
    power = 1 if n_bytes < 999_500 else 2 if n_bytes < 999_500_000 else 3
    value = n_bytes / 1000**power
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f} {('kB', 'MB', 'GB')[power - 1]}"


def time_text(seconds: float) -> str:
    """Return a time from the start.

    Examples
    --------
    >>> time_text(7.25), time_text(75), time_text(3671.5)
    ('7.25 s', '1:15', '1:01:11.5')
    """
    if seconds < 60:
        return f"{number_text(round(seconds, 2))} s"
    integer, rest = divmod(round(seconds, 1), 1)
    minutes, secs = divmod(int(integer), 60)
    hours, minutes = divmod(minutes, 60)
    tail = f"{secs:02d}" + (f".{round(rest * 10)}" if round(rest * 10) else "")
    return f"{hours}:{minutes:02d}:{tail}" if hours else f"{minutes}:{tail}"


def moment_text(moment: str) -> str:
    """Return an ISO 8601 time in UTC as a person writes it; any other text as it is.

    Examples
    --------
    >>> moment_text("2026-01-02T03:04:05+00:00"), moment_text("yesterday")
    ('2026-01-02 03:04:05 UTC', 'yesterday')
    """
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)", moment)
    return f"{match[1]} {match[2]} UTC" if match else moment


def content_text(kind: str | None, format: str | None) -> str:
    """Return kind and format of a medium, once where they are one word.

    Examples
    --------
    >>> content_text("video", "mp4"), content_text("pdf", "pdf")
    ('video, mp4', 'pdf')
    """
    return ", ".join(dict.fromkeys(part for part in (kind, format) if part))


_INFO_LABELS = {
    "duration_s": "Duration",
    "frame_rate_hz": "Frame rate",
    "n_frames": "Frames",
    "sample_rate_hz": "Sample rate",
    "channels": "Channels",
    "video_codec": "Video codec",
    "audio_codec": "Audio codec",
    "n_pages": "Pages",
    "n_video_streams": "Video streams",
    "n_audio_streams": "Audio streams",
    "n_unread_video_streams": "Video streams of an unknown codec",
    "n_unread_audio_streams": "Audio streams of an unknown codec",
}
_TOLD_FROM_TWO = ("n_frames", "n_video_streams", "n_audio_streams")


def info_rows(info: dict[str, object]) -> tuple[tuple[str, str], ...]:
    """Return the facts of a medium that are known, labelled, for a person."""
    rows: list[tuple[str, str]] = []
    if info.get("width_px") and info.get("height_px"):
        rows.append(("Dimensions", f"{info['width_px']} × {info['height_px']} px"))
    for key, label in _INFO_LABELS.items():
        value = info.get(key)
        if value is None or value == "" or (key in _TOLD_FROM_TWO and value == 1):
            continue
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            text = {"_s": time_text(value), "hz": f"{number_text(value)} Hz"}.get(key[-2:], f"{value:,}")
        else:
            text = str(value)
        rows.append((label, text))
    known = {*_INFO_LABELS, "width_px", "height_px", "has_video", "has_audio", "has_clip"}
    rows += [
        (key.replace("_", " ").capitalize(), str(v)) for key, v in info.items() if key not in known and v is not None
    ]
    return tuple(rows)
