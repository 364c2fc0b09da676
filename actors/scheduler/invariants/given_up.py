"""Given up: whether a scheduler held a nomination no more that the pod still shows (SCH-64)."""

from __future__ import annotations

from testbed import Evidence
from testbed.objects import Pod


def was_given_up(see: Evidence, pod: Pod, node: str, taker: Pod) -> bool:
    """Whether another pod came to that node after the scheduler had given the nomination up.

    Once the room is free, the pod is assumed there and no longer nominated. If its bind fails, the
    scheduler of 1.26 forgets it and clears the nomination by a patch, which comes late or may fail
    as well. From the failure until it is nominated again the room is anybody's.
    """
    has_come = False
    for record in reversed(see.records):
        key, name = record.facts.get("pod"), record.name
        if key == taker.key and name == "assumed":
            has_come = True
        elif has_come and key == pod.key and name == "forgot":
            return bool(record.facts["node"] == node)
        elif has_come and key == pod.key and record.facts.get("nominated"):
            return False
    return False
