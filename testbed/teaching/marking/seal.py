"""Seal: how the process of an answer hands over its result, so that the answer cannot.

The process gets a key before the answer is loaded, and signs the result with it (HMAC, RFC 2104).
What an answer writes to the same pipe by itself has no such signature, and spoils what it stands
beside: it loses its own mark, and gains none.

The signing end is made of C objects only, held by one function. Python's `hmac` is a class that an
answer could replace; it would then be handed the key when the result is signed.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from hashlib import sha256

KEY_BYTES = 32
SIGNED_BY = "sha256"
READY = b"+"
"""What comes first: all is ready, and whatever happens from now on is the answer's own."""
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def sealer(key: bytes) -> Callable[[bytes], bytes]:
    """The function that puts the signature before a message; it can be called once."""
    block = key.ljust(sha256().block_size, b"\0")
    inner, outer = sha256(block.translate(_INNER)), sha256(block.translate(_OUTER))

    def sealed(message: bytes) -> bytes:
        inner.update(message)
        outer.update(inner.digest())
        return outer.hexdigest().encode() + b"\n" + message

    return sealed


def opened(key: bytes, sealed: bytes) -> bytes | None:
    """The message, if it was signed with that key and nothing stands beside it; else None."""
    signature, _, message = sealed.partition(b"\n")
    expected = hmac.new(key, message, SIGNED_BY).hexdigest().encode()
    return message if hmac.compare_digest(signature, expected) else None
