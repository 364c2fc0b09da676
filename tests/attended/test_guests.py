"""Guests: programs that nobody here has started, in a World that waits for them; and a replay."""

from __future__ import annotations

import json
import threading
import urllib.request
from pathlib import Path

import attrs

from testbed import Calm, Trace
from testbed.attended.casting import attended_by
from testbed.attended.door import Door
from testbed.attended.tape import Tape, joined_of
from testbed.attended.wall_times import WallTimes
from testbed.choosers.replayed import Replayed
from testbed.objects.codec import decode
from testbed.world.scenario import find

PODS = "/api/v1/namespaces/default/pods"


class Guest:
    """Asks, once the door is open, in a thread of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: list[list[str]] = []
        self.thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        kubeconfig = self.folder / "ann.kubeconfig"
        server = json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
        for _ in range(2):
            with urllib.request.urlopen(server + PODS, timeout=10) as answer:
                items = json.load(answer)["items"]
            self.found.append([item["metadata"]["name"] for item in items])


def test_a_guest_is_served_in_a_world_that_was_at_rest_long_ago(tmp_path: Path) -> None:
    """The scenario knows nothing of it. The Run goes on until the limit, though all is at rest and
    a claim may be violated, and replays without the guest to the byte."""
    guest = Guest(tmp_path)
    served = attended_by(
        find("double_bind"), {}, lambda: tmp_path, WallTimes(limit_s=0.5, quiet_s=0.01),
        guests=["ann"], door=Door(on_open=lambda _: guest.thread.start()),
    )  # fmt: skip
    first = Trace({}, keep=True)
    verdict = served.world().run(Calm(), driver="direct", trace=first)
    guest.thread.join()
    assert guest.found[-1], guest.found
    assert verdict.outcome == "undecided"
    assert verdict.attended == ("ann",)
    assert first.header["guests"] == ["ann"]
    assert (tmp_path / "ann.kubeconfig").stat().st_mode & 0o777 == 0o600
    steps = tuple(line for each in first.lines() if "do" in (line := decode(each)))
    tape = Tape((), joined_of(steps), guests=["ann"])
    again = attrs.evolve(find("double_bind"), attendance=lambda: tape).world()
    again.run(Replayed(steps, again="no"), driver="trio", trace=Trace({}, keep=True))
    assert [*again.trace.lines()] == [*first.lines()]
