"""On a worker of a cluster: the messages that it was sent, by their sha256, and what was unpacked from them."""

from typing import Any

RECEIVED: dict[str, bytes] = {}
"""What was too large to come with a chunk."""
UNPACKED: dict[str, Any] = {}
