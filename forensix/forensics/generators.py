"""Generators by the names under which files record them.

The table is ``generators.csv``; a row is a product or a family of models:

    identifier  what results call it: lower-case letters, digits, hyphen, underscore
    name        what people call it
    media       what it makes first of all: image, video or audio
    program     pattern of what it writes of itself where files name programs and makers
    model       pattern of the names of its checkpoints, in the recipes that user interfaces write
    signer      pattern of who signs its content credentials, asked only where these say that it was generated

Patterns are searched without regard to case. The first row that matches wins, so particular rows stand before general
ones. What the attribution of pixels may answer is in the table as well, with no pattern where no file names it.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MAX_TEXT = 2000
WORD = r"(?<![^\W\d_])(?:{})(?![^\W\d_])"
"""Around a pattern: what it matches is no part of a longer word."""

BUILD = re.compile(r"-(user|userdebug|eng) \d")
"""Android's name of a build begins with that of the device, and one telephone's is a generator's as well."""

NAMESAKES = re.compile(
    r"black forest labs|byteplus|doubao|draw things|dream machine|firefly|flux[- ]?\d|gemini|grok|hedra|heygen|"
    r"ideogram|imagen|openai|runway|sora|stability\.?\s?ai|suno|synthesia|wan ?ai",
    re.IGNORECASE,
)
"""Names of generators that are names of people, places or firms, or words, as well."""

COMMON_WORDS = re.compile(r"firefly|flux[- ]?\d|gemini|grok|imagen|runway|sora", re.IGNORECASE)
"""Those of them that are words first of all, so that programs and devices of others bear them as well."""

MAKERS = re.compile(r"adobe|ai|bing|deepmind|google|microsoft|openai|xai")
OF_USE = re.compile(rf"{MAKERS.pattern}|generated|using|with")
VERSION = re.compile(r"v?\d+")
OF_MODELS = re.compile(r"dev|flash|flex|images?|klein|kontext|max|pro|schnell|turbo|ultra|video")
BESIDE = re.compile(
    rf"{VERSION.pattern}|{OF_MODELS.pattern}|an?|and|art|artwork|by|created|edited|made|photo|picture|preview|the"
)
"""Words that stand around a generator's name where it is credited; those of the first kind tell of its use, and where
programs are named those of models do as well."""


@dataclass(frozen=True)
class Generator:
    """A row of the table."""

    identifier: str
    name: str
    media: str
    program: re.Pattern[str] | None
    model: re.Pattern[str] | None
    signer: re.Pattern[str] | None


@cache
def generators() -> tuple[Generator, ...]:
    """Return the table in its order."""
    with Path(__file__).with_name("generators.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Generator(
                row["identifier"],
                row["name"],
                row["media"],
                _pattern(WORD.format(row["program"]) if row["program"] else ""),
                _pattern(row["model"]),
                _pattern(row["signer"]),
            )
            for row in csv.DictReader(file)
        )


def _pattern(text: str) -> re.Pattern[str] | None:
    return re.compile(text, re.IGNORECASE) if text else None


def by_program(text: object) -> Generator | None:
    """Return the generator that a field for programs names.

    >>> by_program("Adobe_Firefly 3").identifier
    'firefly'
    """
    label = str(text)[:MAX_TEXT].replace("_", " ")
    if BUILD.search(label):
        return None
    return next((row for row in generators() if row.program and row.program.search(label)), None)


def by_software(text: object) -> Generator | None:
    """Return the generator that a field for programs names, and not another program that is called after a word.

    Beside a name that is a word has to stand its maker or what its models are called, or what tells of its use: by
    itself, with a version or without one, it may be anything's name (see `by_namesake`).

    >>> [by_software(text).identifier for text in ("Adobe Firefly Pipeline", "Gemini 2.5 Flash Image", "Midjourney")]
    ['firefly', 'gemini', 'midjourney']
    >>> by_software("Editor de imagen"), by_software("Gemini Observatory"), by_software("Flux 2")
    (None, None, None)
    """
    row = by_program(text)
    name, words = _apart(row, text)
    if COMMON_WORDS.fullmatch(name) is None or any(MAKERS.fullmatch(word) for word in words):
        return row
    if any(OF_MODELS.fullmatch(word) for word in words):
        return row if all(BESIDE.fullmatch(word) or OF_USE.fullmatch(word) for word in words) else None
    return by_credit(text)


def by_namesake(text: object) -> Generator | None:
    """Return the generator that a text can mean which is no more than a word, with a version or without one.

    >>> by_namesake("Gemini").identifier, by_namesake("Flux 2").identifier, by_namesake("Adobe Firefly")
    ('gemini', 'flux', None)
    """
    row = by_program(text)
    name, words = _apart(row, text)
    is_word = COMMON_WORDS.fullmatch(name) is not None
    return row if is_word and all(VERSION.fullmatch(word) for word in words) else None


def by_credit(text: object) -> Generator | None:
    """Return the generator that is credited, in a field that names people, firms and places otherwise.

    Nothing may stand beside the name but its maker, a version and how it was used, and its maker or its use has to
    stand there where others bear the name as well.

    >>> by_credit("Made with Gemini").identifier
    'gemini'
    >>> by_credit("Gemini Observatory"), by_credit("Gemini")
    (None, None)
    """
    row = by_program(text)
    name, words = _apart(row, text)
    n_telling = sum(OF_USE.fullmatch(word) is not None for word in words)
    n_around = sum(BESIDE.fullmatch(word) is not None for word in words)
    is_others = NAMESAKES.fullmatch(name) is not None and not n_telling
    return None if is_others or n_telling + n_around < len(words) else row


def _apart(row: Generator | None, text: object) -> tuple[str, list[str]]:
    """Return a generator's name as it stands in a text, and the words around it."""
    label = str(text)[:MAX_TEXT].replace("_", " ")
    found = row.program.search(label) if row is not None and row.program is not None else None
    if found is None:
        return "", []
    return found[0], re.findall(r"[^\W_]+", f"{label[: found.start()]} {label[found.end() :]}".lower())


def by_model(name: object) -> Generator | None:
    """Return the generator that the name of a checkpoint stands for.

    >>> by_model("sd_xl_base_1.0.safetensors").identifier
    'sdxl'
    """
    label = re.sub(r"\.(safetensors|ckpt|gguf|sft|pth?|bin)$", "", str(name)[:MAX_TEXT], flags=re.IGNORECASE)
    return next((row for row in generators() if row.model and row.model.search(label)), None)


def by_signer(text: object) -> Generator | None:
    """Return the generator whose content credentials an organisation signs."""
    label = str(text)[:MAX_TEXT]
    return next((row for row in generators() if row.signer and row.signer.search(label)), None)
