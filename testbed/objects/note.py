"""Note: a ConfigMap-like object, a few named strings; the smallest thing worth racing for."""

from __future__ import annotations

from typing import ClassVar

import attrs

from testbed.objects.meta import Map, Object, evolved, texts


@attrs.frozen
class Note(Object):
    """A few named strings under one name."""

    kind: ClassVar[str] = "Note"
    plural: ClassVar[str] = "notes"

    data: Map[str] = attrs.field(factory=Map, converter=texts)
    """The strings, by name."""

    def saying(self, **data: str) -> Note:
        """A copy with these strings set."""
        return evolved(self, data=texts(self.data.having(**data)))
