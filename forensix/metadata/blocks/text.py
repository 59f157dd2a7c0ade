"""Text whose encoding a block does not say: UTF-8 where it is that, else the letters of western Windows."""

import codecs

WESTERN = tuple(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))
"""The letter of each byte; of the five that Windows leaves open that of Latin-1."""


def decoded(raw: bytes) -> str:
    """Return a text of unsaid encoding.

    What begins as UTF-8 and ends within a letter was cut there, and keeps what is whole.

    >>> decoded("Größe".encode("latin-1")), decoded("Größe".encode()), decoded("Größe".encode()[:-2])
    ('Größe', 'Größe', 'Grö')
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    try:
        whole = codecs.getincrementaldecoder("utf-8")().decode(raw)
    except UnicodeDecodeError:
        whole = ""
    return "".join(WESTERN[byte] for byte in raw) if whole.isascii() else whole
