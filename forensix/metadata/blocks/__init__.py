"""Blocks of metadata that many formats carry: EXIF, XMP, IPTC, ICC profiles, content credentials (C2PA)."""
