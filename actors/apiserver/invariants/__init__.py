"""The protocol of the API server, as claims over its answers and commits.

They share no code with the server. Each reads what was asked, what was committed and what was
answered, and works out in the plainest way what the protocol allows.

May use: nothing beside it.
In order: asked; then siblings, __init__.
"""

from __future__ import annotations

from actors.apiserver.invariants.deletions import PodsAreGivenTheirTime
from actors.apiserver.invariants.evictions import EvictionsKeepToBudgets
from actors.apiserver.invariants.reads import AnswersShowWhatWas
from actors.apiserver.invariants.writes import NoUpdateIsLost, PatchesChangeWhatTheySay
from testbed import Invariant
from testbed.invariants.caches import CachesShowOneRevision
from testbed.invariants.lives import EveryUidIsNew, LivesGoOneWay

__all__ = [
    "AnswersShowWhatWas",
    "EvictionsKeepToBudgets",
    "NoUpdateIsLost",
    "PatchesChangeWhatTheySay",
    "PodsAreGivenTheirTime",
    "protocol_claims",
]


def protocol_claims() -> tuple[Invariant, ...]:
    """All claims of the protocol, for a World with an API server: write
    `world.claim(*protocol_claims())`."""
    return (
        LivesGoOneWay(), EveryUidIsNew(), CachesShowOneRevision(), NoUpdateIsLost(),
        PatchesChangeWhatTheySay(), PodsAreGivenTheirTime(), EvictionsKeepToBudgets(),
        AnswersShowWhatWas(),
    )  # fmt: skip
