"""MachineLife: a machine at the provider, from the request for it until it is gone.

The testbed knows no provider: a machine is whatever object of this plural was written, and its
field `gone_ms` says when it goes, if it says so before it is deleted.
"""

from __future__ import annotations

from typing import Any

import attrs

from testbed.search.comparing.run_history import RunHistory

MACHINES = "cloudinstances/"


@attrs.define
class MachineLife:
    """What became of one machine."""

    made_ms: int
    was_there: bool
    """Whether it was there before the Run began."""
    gone_ms: int | None = None
    """None: it was there to the end of the Run."""


def machines_in(history: RunHistory) -> tuple[MachineLife, ...]:
    """Every machine of a Run, in the order in which they were made. One that has the name of an
    earlier one is another."""
    there = {
        key: MachineLife(0, was_there=True) for key in history.at_first if key.startswith(MACHINES)
    }
    lives = list(there.values())
    for key, life in there.items():
        _note(life, history.at_first[key], history.end_ms)
    for commit in history.commits:
        if not commit.key.startswith(MACHINES):
            continue
        if commit.old is None:
            there[commit.key] = MachineLife(commit.at_ms, was_there=False)
            lives.append(there[commit.key])
        life = there[commit.key]
        _note(life, commit.new, history.end_ms)
        if commit.new is None:
            life.gone_ms = commit.at_ms if life.gone_ms is None else min(life.gone_ms, commit.at_ms)
    return tuple(lives)


def _note(life: MachineLife, machine: Any, end_ms: int) -> None:
    gone_ms = getattr(machine, "gone_ms", None)
    if gone_ms is not None and gone_ms <= end_ms:
        life.gone_ms = gone_ms
