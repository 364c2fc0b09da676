"""What YuniKorn owes, as claims over its books and over what is stored.

May use: core, shim.
In order: looks; then siblings, __init__.
"""

from __future__ import annotations

from actors.yunikorn.invariants.agreement import CoreAgreesWithKubernetes
from actors.yunikorn.invariants.books import BooksBalance
from actors.yunikorn.invariants.progress import RequiredAsksAreServed
from actors.yunikorn.invariants.victims import VictimsAreFair
from testbed import Invariant

__all__ = [
    "BooksBalance",
    "CoreAgreesWithKubernetes",
    "RequiredAsksAreServed",
    "VictimsAreFair",
    "yunikorn_claims",
]


def yunikorn_claims(*, alone: bool = False) -> tuple[Invariant, ...]:
    """The claims about YuniKorn that hold whatever strikes: `world.claim(*yunikorn_claims())`. If
    it is `alone` on its nodes and none of its deletes fails, victims make room, too."""
    claims = (
        BooksBalance(), VictimsAreFair(), CoreAgreesWithKubernetes(), RequiredAsksAreServed(),
    )  # fmt: skip
    return (*claims, RequiredAsksAreServed(victims=True)) if alone else claims
