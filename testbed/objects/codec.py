"""The codec: any of our data to JSON bytes and back, the same bytes for the same value."""

from __future__ import annotations

from typing import Any

import msgspec

from testbed.objects.meta import Revision


def _plain(value: object) -> object:
    if isinstance(value, Revision):
        return value.text
    raise TypeError(f"{type(value).__name__} {value!r} cannot stand in a trace")


_encoder = msgspec.json.Encoder(enc_hook=_plain, order="deterministic")
_line_encoder = msgspec.json.Encoder(enc_hook=_plain)
_decoder = msgspec.json.Decoder()


def encode(value: object) -> bytes:
    """One line of JSON, without its end: keys of mappings and fields of objects sorted."""
    return _encoder.encode(value)


def encode_line(content: dict[str, Any]) -> bytes:
    """The same, keys in the order given: what a person reads first stands first."""
    return _line_encoder.encode(content)


def decode(line: bytes) -> Any:
    """What stands on a line of JSON; ValueError when it is none."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
