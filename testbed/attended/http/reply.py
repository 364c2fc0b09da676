"""Reply: a whole HTTP answer, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from testbed.objects.codec import encode

JSON = "application/json"


@attrs.frozen
class Reply:
    """One whole answer: what `Exchange.answer` is given."""

    code: int
    """200, 201, 404, …"""
    body: bytes = b""
    content_type: str = JSON
    more: Mapping[str, str] = attrs.field(factory=dict)
    """Further headers: `{"retry-after": "1"}`."""

    @classmethod
    def saying(cls, tree: Any, code: int = 200, content_type: str = JSON) -> Reply:
        """An answer whose body is this tree as JSON."""
        return cls(code, encode(tree), content_type)

    @property
    def headers(self) -> dict[str, str]:
        """All headers that the body needs, by name in lower case."""
        return {"content-type": self.content_type, **self.more}
