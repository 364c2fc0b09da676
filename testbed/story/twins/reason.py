"""Reason: why an act is not as in the twin, as a value."""

from __future__ import annotations

from enum import StrEnum

import attrs

from testbed.story.knowledge import Known, Version
from testbed.story.requests import Sent
from testbed.turns.trace import Step


class Why(StrEnum):
    """Why an act is not as in the twin."""

    OVERTAKEN = "what its task knew had changed by then, as another came first"
    CHECKED = "its server had checked too early"
    STALE = "its task knew what was no longer so"
    MEANWHILE = "what its task knew, as in the twin, had changed by then"
    NO_ANSWER = "an answer never came"
    REFUSED = "an earlier request was refused"
    NEW_LIFE = "its actor had died before"
    STRUCK = "its actor was struck before"
    ORDER = "its actor saw the same in another order"
    RULE = "its actor is set otherwise, and sees the same"
    SERVED = "its server went by other things"
    NEWS = "its task knew other things, which were so"
    OWN = "its actor had itself done otherwise before"
    SAME = "its task saw the same"


RANK = {
    Why.OVERTAKEN: 0, Why.CHECKED: 1, Why.STALE: 1, Why.MEANWHILE: 1, Why.NO_ANSWER: 2,
    Why.REFUSED: 2, Why.NEW_LIFE: 2, Why.STRUCK: 2, Why.RULE: 2,
    Why.ORDER: 2, Why.SERVED: 3,
    Why.NEWS: 3, Why.OWN: 4, Why.SAME: 5,
}  # fmt: skip
"""The lower, the more it explains."""
STRONG = 2
"""Up to this rank, a reason explains by itself why an act is not as in the twin."""
BLIND = frozenset({Why.NO_ANSWER, Why.REFUSED, Why.NEW_LIFE, Why.STRUCK, Why.CHECKED})
"""Reasons that an actor may have that has read nothing."""


@attrs.frozen(eq=False)
class Reason:
    """Why an act is not as in the twin."""

    why: Why
    key: str = ""
    """The object that its task knew otherwise."""
    known: Known | None = None
    """Parted its task knew that, in the violated Run."""
    since: Version | None = None
    """The write that its task did not know of; else the one that had made what it knew."""
    sent: Sent | None = None
    """The request that got no answer, or was refused."""
    awaited: Version | None = None
    """The write of the twin that its task knew of there."""
    is_missing: bool = False
    """Whether that write had not come by then."""
    step: int = 0
    """Of a new life, its first Step; of a check or a fault, the Step of that."""
    late: Step | None = None
    """What its actor saw too late, as the Step of the twin in which it saw that."""
    came: int = 0
    """When it came here; 0 if it never did."""
    first: Step | None = None
    """What it saw before that, as the Step of the violated Run."""
    field: str = ""
    """The field of that object that its task knew otherwise; empty if it was there or not."""

    @property
    def rank(self) -> int:
        """The lower, the more it explains."""
        return RANK[self.why]

    @property
    def is_strong(self) -> bool:
        """Whether it explains by itself why an act is not as in the twin."""
        return self.rank <= STRONG
