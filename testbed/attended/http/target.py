"""Target: what stands between method and version in a request line, as path and query."""

from __future__ import annotations

import re
from urllib.parse import unquote_to_bytes

from testbed.attended.http.status import RequestRefused

_BAD_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
_ABSOLUTE = re.compile(rb"https?://[^/?#]+(.*)", re.IGNORECASE | re.DOTALL)

Query = tuple[tuple[str, str], ...]


def read_target(target: bytes) -> tuple[str, Query]:
    """Its path and query, percent-decoded; RequestRefused if it is no path, or a crooked one.

    A path is taken as it stands: nothing resolves `..` here, so that no two of us can read one path
    as two, and none that holds it gets further.
    """
    if absolute := _ABSOLUTE.fullmatch(target):
        target = absolute[1]
        if not target.startswith(b"/"):
            target = b"/" + target
    if not target.startswith(b"/"):
        raise RequestRefused(400, "the request target is neither a path nor an absolute URL")
    if b"#" in target:
        raise RequestRefused(400, "the request target holds a fragment")
    raw_path, _, raw_query = target.partition(b"?")
    path = _decoded(raw_path, "path")
    if ".." in path and ".." in path.split("/"):
        raise RequestRefused(400, "the path holds a `..`")
    if _CONTROLS.search(path):
        raise RequestRefused(400, "the path holds a control character")
    return path, _read_query(raw_query) if raw_query else ()


def _read_query(query: bytes) -> Query:
    items = (item.partition(b"=") for item in query.replace(b"+", b" ").split(b"&") if item)
    found = tuple((_decoded(name, "query"), _decoded(value, "query")) for name, _, value in items)
    if any("\0" in name or "\0" in value for name, value in found):
        raise RequestRefused(400, "the query holds a NUL")
    return found


def _decoded(raw: bytes, where: str) -> str:
    if b"%" in raw:
        if _BAD_ESCAPE.search(raw):
            raise RequestRefused(400, f"the {where} holds a percent sign without two digits")
        raw = unquote_to_bytes(raw)
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise RequestRefused(400, f"the {where} is not UTF-8") from None
