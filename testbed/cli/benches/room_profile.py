"""RoomProfile: in which rooms of the house the CPU time of Runs is spent.

A timer of the operating system interrupts this process each time it has used a little more CPU
time, and where it is then is one sample. What a library, Python or generated code does there counts
for the room that has called it. trio is a room of its own, because a turn is handed on by it. The
rooms are the folders, so that a new one shows by itself; a few have a plainer name here.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from testbed.code.whose import OWN, SHIPPED, TESTBED, library_of, whose
from testbed.errors import ScenarioError

EVERY_S = 0.001
"""The CPU time between two samples. A coarse clock of the system makes it longer, never shorter."""
BESIDE = ("actors", "scenarios")
ACTORS_ROOM = 2
"""How many parts of its path name a room of `actors/`."""
PLAIN_NAMES = {
    "turns": "kernel",
    "world/play": "kernel",
    "world": "assembly",
    "scenarios": "assembly",
    "store": "store and watch",
    "objects": "objects and codec",
    "invariant": "claims",
    "invariants": "claims",
    "world/judge": "claims",
    "fault": "faults",
    "chooser": "choosers",
    "actors/framework": "actors/scheduler",
    "cli": "the bench",
}
"""What a folder or a file within `testbed/`, or a folder beside it, is called in a profile."""
NOBODY = "python"
"""The room of a sample in which no frame was ours, such as the end of the process."""


class RoomProfile:
    """Samples taken so far, by room."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()
        self._rooms: dict[str, str] = {}
        """By file name: its room; empty if its caller's room is meant."""

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take samples during the body, which must run in the main thread."""
        if not hasattr(signal, "ITIMER_PROF"):
            raise ScenarioError(
                "--profile: this system has no timer of CPU time (ITIMER_PROF).\n"
                "Next: leave out --profile, or measure on Linux or macOS."
            )
        before = signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    def _sample(self, _: int, frame: FrameType | None) -> None:
        self.samples[self.room_of(frame)] += 1

    def room_of(self, frame: FrameType | None) -> str:
        """The room of the innermost frame that has one."""
        while frame is not None:
            file = frame.f_code.co_filename
            room = self._rooms.get(file)
            if room is None:
                room = self._rooms[file] = room_of_file(file)
            if room:
                return room
            frame = frame.f_back
        return NOBODY


def room_of_file(file: str) -> str:
    """The room of a file; empty for what works for its caller, such as a library."""
    kind = "" if file.startswith("<") else whose(file)
    if kind == OWN:
        return "your own"
    if kind not in (TESTBED, SHIPPED):
        return "trio" if kind and library_of(file) == "trio" else ""
    parts = Path(file).with_suffix("").parts
    top = max(nth for nth, part in enumerate(parts) if part in ("testbed", *BESIDE))
    inside = parts[top + (kind == TESTBED) :]
    if "invariants" in inside:
        return PLAIN_NAMES["invariants"]
    folder = "/".join(inside[: ACTORS_ROOM if inside[0] == "actors" else 1])
    return PLAIN_NAMES.get("/".join(inside[:2])) or PLAIN_NAMES.get(folder, folder)
