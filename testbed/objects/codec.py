"""The codec: JSON bytes for any value of ours and back, the same bytes for equal values.

Traces are compared byte by byte, and digests are taken of these bytes. But two Maps are equal even
if their names were added in different orders, and a plain encoder would write that order. So
`encode` sorts all names. `encode_line` keeps the order that its caller gives, which code fixes, so
that a line begins with what matters to a person. Facts and objects in it were sorted by `encode`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from testbed.objects.meta import Numbered, Revision
from testbed.objects.watched import told


def _plain(value: object) -> object:
    if isinstance(value, Revision | Numbered):
        return str(value)
    if (watched := told(value)) is not None:
        return watched
    raise TypeError(f"{type(value).__name__} {value!r} cannot stand in a trace")


def _told(value: object) -> object:
    if isinstance(value, Revision | Numbered):
        return str(value)
    if (watched := told(value)) is not None:
        return watched
    kind = type(value)
    is_ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    if is_ours or callable(value) or not hasattr(value, "__dict__"):
        return kind.__name__
    digest = getattr(value, "digest", None)
    return {kind.__name__: vars(value) if digest is None else digest()}


_encoder = msgspec.json.Encoder(enc_hook=_plain, order="deterministic")
_any_encoder = msgspec.json.Encoder(enc_hook=_told, order="deterministic")
_line_encoder = msgspec.json.Encoder(enc_hook=_plain)
_decoder = msgspec.json.Decoder()


def encode(value: object) -> bytes:
    """One line of JSON without its newline, all names sorted."""
    return _encoder.encode(value)


def encode_any(value: object) -> bytes:
    """The same of a value of any class, for comparing and not for reading back. Of a class that has
    no JSON it is the name with the `digest()`, or else the fields; of a function, or of a part of
    the testbed, the name of its class alone."""
    return _any_encoder.encode(value)


def encode_line(content: dict[str, Any]) -> bytes:
    """One line of JSON without its newline, names in the order given."""
    return _line_encoder.encode(content)


def decode(line: bytes) -> Any:
    """The value of a line of JSON; ValueError if it is not JSON."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
