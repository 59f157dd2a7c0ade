"""Predefined CMaps of composite fonts: which bytes make a letter, which letter it is, and how broad it is.

A CMap of a legal code (Shift-JIS, GBK, KS X 1001, Big5) has letters of one byte and of two, which the codec of that
code tells apart. Widths are stated by number in Adobe's collection of glyphs; those of ASCII and of narrow katakana
are in a row there, and nearly everything else is as broad as the font says of what it does not list.

References
----------
ISO 32000-2:2020, 9.7.5.2 (table 116); Adobe, Technical Notes 5078, 5079, 5080 and 5093 (Adobe-Japan1, -GB1, -CNS1,
-Korea1).
"""

import codecs
import re
from dataclasses import dataclass

CODECS = (
    (r"Uni\w+-(UCS2(-HW)?|UTF16)", "utf-16-be"),
    (r"Uni\w+-UTF8", "utf-8"),
    (r"Uni\w+-UTF32", "utf-32-be"),
    (r"(83pv|90ms|90msp|90pv|Ext|Add)-RKSJ", "cp932"),
    (r"EUC", "euc_jp"),
    (r"GBK2K", "gb18030"),
    (r"GB(|K|Kp|pc|T)-EUC", "gbk"),
    (r"KSC(|ms|pc)-(UHC|EUC)(-HW)?", "cp949"),
    (r"(ETen|ETenms|HKscs)-B5|B5pc", "big5hkscs"),
)
FIRST = (
    (r"(90ms|Ext|Add)-RKSJ|EUC-|UniJIS-UCS2-HW", 231),
    (r"GBK?-EUC", 814),
    (r"KSC-EUC|KSCms-UHC-HW", 8094),
    (r"ETen-B5", 13648),
)
"""Number of the space in CMaps whose ASCII is half an em broad; in the others it is 1, and the rest follows it."""
NARROW_KATAKANA = range(0xFF61, 0xFFA0), 327
"""In Adobe-Japan1."""


@dataclass(frozen=True)
class CMap:
    """How bytes are parted into letters: by a ``codec``, and with the number of the space as ``first``."""

    codec: str
    first: int
    is_japanese: bool

    def letters(self, raw: bytes) -> list[tuple[str, int, int]]:
        """Return each letter, its number in the collection (0 where it is not known), and how many bytes it has."""
        decoder = codecs.getincrementaldecoder(self.codec)("replace")
        found, begun = list[tuple[str, int, int]](), 0
        for i in range(len(raw)):
            letter = decoder.decode(raw[i : i + 1], final=i + 1 == len(raw))
            if letter:
                found.append((letter, self._number(letter), i + 1 - begun))
                begun = i + 1
        return found

    def _number(self, letter: str) -> int:
        code = ord(letter[0])
        if 0x20 <= code < 0x7F:
            return self.first + code - 0x20
        katakana, number = NARROW_KATAKANA
        return number + code - katakana.start if self.is_japanese and code in katakana else 0


def named(name: str) -> CMap | None:
    """Return a predefined CMap of letters; none of ``Identity-H`` and of names that are not known.

    >>> [letter for letter, _, _ in named("90ms-RKSJ-H").letters("Aあｱ".encode("cp932"))]
    ['A', 'あ', 'ｱ']
    >>> named("GBK-EUC-V").letters("1元".encode("gbk"))
    [('1', 831, 1), ('元', 0, 2)]
    >>> named("Identity-H")
    """
    codec = next((codec for pattern, codec in CODECS if re.fullmatch(f"(?:{pattern})-[HV]", name)), "")
    first = next((first for pattern, first in FIRST if re.match(f"(?:{pattern})", name)), 1)
    return CMap(codec, first, codec in ("cp932", "euc_jp") or name.startswith("UniJIS")) if codec else None
