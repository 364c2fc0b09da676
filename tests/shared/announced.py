"""Whether what an Operation touched had been announced."""

from __future__ import annotations

from testbed.store.footprint import Footprint


def uncovered(did: Footprint, may: Footprint) -> list[str]:
    """The keys that were touched and not announced; a kind's log stands for its fields. Whose uids
    it counts is announced by the Request, which knows its caller."""

    def within(key: str, announced: frozenset[str]) -> bool:
        whole = "log:" if key.startswith("log:") else key
        return any(known in (key, whole) or key.startswith(f"{known}.") for known in announced)

    reads = [key for key in sorted(did.reads) if not within(key, may.reads | may.writes)]
    written = [key for key in sorted(did.writes) if not key.startswith("uids:")]
    return reads + [key for key in written if not within(key, may.writes)]
