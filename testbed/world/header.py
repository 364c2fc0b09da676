"""Header: what the first line of a trace says of its World, so that the Run can be replayed."""

from __future__ import annotations

from typing import Any, Protocol

from testbed.fault import Fault
from testbed.objects.calendar import epoch_named
from testbed.version import VERSION
from testbed.world.attendance import Attendance
from testbed.world.fault_kinds import fault_as_dict
from testbed.world.in_force import InForce


class Told(Protocol):
    """What a header tells of a World."""

    scenario: str
    switches: dict[str, Any]
    beside: tuple[Fault, ...]
    without: frozenset[str]
    attendance: Attendance | None
    in_force: InForce


def header_of(world: Told) -> dict[str, Any]:
    """The scenario and its switches, and all that the scenario alone would make otherwise."""
    header: dict[str, Any] = {
        "testbed": VERSION,
        "scenario": world.scenario,
        "switches": dict(world.switches),
    }
    if world.beside:
        header["faults"] = [fault_as_dict(fault) for fault in world.beside]
    if world.without:
        header["without"] = sorted(world.without)
    if world.attendance is not None:
        header["attended"] = sorted(world.attendance.names)
        if world.attendance.guests:
            header["guests"] = sorted(world.attendance.guests)
    if epoch := epoch_named():
        header["epoch"] = epoch
    if in_force := world.in_force.flat():
        header["in_force"] = in_force
    return header
