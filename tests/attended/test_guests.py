"""Guests: programs that nobody here has started, in a World that waits for them; and a replay."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import attrs
import pytest

from testbed import Calm, Trace
from testbed.attended.casting import attended_by
from testbed.attended.door import Door
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.tape import Tape, joined_of
from testbed.attended.wall_times import WallTimes
from testbed.choosers.replayed import Replayed
from testbed.objects.codec import decode
from testbed.world.budget import UNBOUNDED
from testbed.world.scenario import find

PODS = "/api/v1/namespaces/default/pods"


class Guest:
    """Connects the moment the door is open, before the World has moved, and asks in a thread."""

    def __init__(self, folder: Path, ask: Callable[[HTTPConnection, str], None]) -> None:
        self.folder = folder
        self.ask = ask
        self.thread = threading.Thread(target=self._ask)

    def come(self, _: str) -> None:
        """Knock, and wait for nothing."""
        kubeconfig = json.loads((self.folder / "ann.kubeconfig").read_text())
        self.url = urlsplit(kubeconfig["clusters"][0]["cluster"]["server"])
        self.connection = HTTPConnection(self.url.netloc, timeout=120)
        self.connection.connect()
        self.connection.putrequest("GET", self.url.path + PODS)
        self.connection.endheaders()
        self.thread.start()

    def _ask(self) -> None:
        with closing(self.connection):
            self.connection.getresponse().read()
            self.ask(self.connection, self.url.path)


def test_a_guest_is_served_in_a_world_that_was_at_rest_long_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scenario knows nothing of it. The Run goes on until the limit, though all is at rest and
    a claim may be violated, and replays without the guest to the byte."""
    found: list[list[str]] = []

    def ask(connection: HTTPConnection, path: str) -> None:
        connection.request("GET", path + PODS)
        items = json.load(connection.getresponse())["items"]
        found.append([item["metadata"]["name"] for item in items])

    # The limit has passed when the guest has ended, however long that takes.
    def clock() -> float:
        return monotonic() + 1000 * (bool(found) and not guest.thread.is_alive())

    monkeypatch.setattr("testbed.attended.doorman.monotonic", clock)
    guest = Guest(tmp_path, ask)
    served = attended_by(
        find("double_bind"), {}, lambda: tmp_path, WallTimes(limit_s=300, quiet_s=0.01),
        guests=["ann"], door=Door(on_open=guest.come),
    )  # fmt: skip
    first = Trace({}, keep=True)
    verdict = served.world().run(Calm(), driver="direct", trace=first)
    guest.thread.join()
    assert len(found) == 1
    assert found[0]
    assert verdict.outcome == "undecided"
    assert verdict.attended == ("ann",)
    assert first.header["guests"] == ["ann"]
    assert (tmp_path / "ann.kubeconfig").stat().st_mode & 0o777 == 0o600
    steps = tuple(line for each in first.lines() if "do" in (line := decode(each)))
    tape = Tape((), joined_of(steps), guests=["ann"])
    again = attrs.evolve(find("double_bind"), attendance=lambda: tape).world()
    again.run(Replayed(steps, again="no"), driver="trio", trace=Trace({}, keep=True))
    assert [*again.trace.lines()] == [*first.lines()]


DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "nginx"}]},
        },
    },
}
ASKS_MAX = 4000
OVER = "/over"


def test_a_guest_that_asks_without_end_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it asks again and again whether its Deployment has a pod, controllers hear of that and
    make one; time passes, so these many turns are no lasso."""
    few = attrs.evolve(UNBOUNDED, instant_turns_max=500)
    monkeypatch.setattr("testbed.world.world.UNBOUNDED", few)
    asked: list[int] = []

    def ask(connection: HTTPConnection, path: str) -> None:
        created = f"{path}/apis/apps/v1/namespaces/default/deployments"
        connection.request("POST", created, json.dumps(DEPLOYMENT))
        connection.getresponse().read()
        for number in range(ASKS_MAX):
            connection.request("GET", path + PODS)
            if json.load(connection.getresponse())["items"]:
                asked.append(number)
                break
        for _ in range(ASKS_MAX // 8):
            connection.request("GET", path + PODS)
            connection.getresponse().read()
        asked.append(ASKS_MAX)
        connection.request("GET", f"{path}{OVER}")

    def end(_: str, request: HttpRequest, __: object) -> None:
        if request.path == OVER:
            raise KeyboardInterrupt

    guest = Guest(tmp_path, ask)
    served = attended_by(
        find("scenarios.cluster:cluster"), {}, lambda: tmp_path, WallTimes(limit_s=300),
        guests=["ann"], door=Door(on_open=guest.come, on_asked=end),
    )  # fmt: skip
    world = served.world()
    with pytest.raises(KeyboardInterrupt):
        world.run(Calm(), driver="direct")
    guest.thread.join()
    assert len(asked) == 2, world.verdict
