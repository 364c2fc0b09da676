"""Outlived: who removed a pod that ran is named if another of its name was started elsewhere."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.choosers.calm import Calm
from testbed.client.client import Client
from testbed.invariant import Evidence, quiescent
from testbed.objects import Pod
from testbed.story.cause import CauseShape
from testbed.story.causes import outlived
from testbed.story.slice import Slice
from testbed.turns.trace import Trace
from tests.each_row import each_row
from tests.shared.stage import world_of

KEY = "pods/default/p"


@attrs.frozen
class Story:
    """What the first kubelet tells and what others do; told calmly, one after another."""

    ends: str = ""
    """How the first kubelet tells that the pod ended: by `phase` or by `record`; else it does not.
    """
    remover: str = "ann"
    second: str = "n2"
    said: str = "p runs on n1 and n2"

    def told(self) -> list[str]:
        """The causes that are found."""
        world = world_of(**{"kubelet-n1": self.first, "ann": self.ann, "kubelet-n2": self.next})
        world.add(Pod.of("p", node_name="n1"))

        def runs_once(_: Evidence) -> str:
            return self.said

        world.claim(quiescent(runs_once))
        trace = Trace({}, keep=True)
        verdict = world.run(Calm(), driver="direct", trace=trace)
        (violation,) = verdict.violations
        assert violation.said == self.said
        causes = list(outlived.found(Slice(trace, violation)))
        assert all(cause.shape is CauseShape.HALF_DONE for cause in causes)
        return [cause.text for cause in causes]

    async def first(self, client: Client) -> None:
        """Tell that it runs; then perhaps that it ended, or remove it."""
        await self.tell(client, "Running")
        await client.sleep(1000)
        if self.ends == "phase":
            await self.tell(client, "Failed")
        elif self.ends == "record":
            client.record("stopped", pod=KEY)
        if self.remover != "ann":
            await client.delete(Pod.of("p"), whatever_it_was=True)

    async def ann(self, client: Client) -> None:
        """Remove it, and create the next."""
        await client.sleep(2000)
        if self.remover == "ann":
            await client.delete(Pod.of("p"), whatever_it_was=True)
        await client.create(Pod.of("p", node_name=self.second))

    async def next(self, client: Client) -> None:
        """Start what is there now."""
        await client.sleep(3000)
        await client.get(Pod, "p")
        client.record("started", pod=KEY)

    async def tell(self, client: Client, phase: str) -> None:
        """Write the phase."""
        pod: Any = await client.get(Pod, "p")
        status = attrs.evolve(pod.status, phase=phase)
        await client.update(attrs.evolve(pod, status=status))


def test_who_removed_what_ran_on_is_named() -> None:
    """By the act that started the next, with what the first kubelet had told."""
    assert Story().told()[0] == (
        "ann deleted pods/default/p at rv 4 (step 10) though kubelet-n1 had told that it runs "
        "(step 5) and never that it ended; then kubelet-n2 recorded started pod=pods/default/p "
        "(step 16)."
    )


@each_row(
    "story",
    [
        Story(ends="phase"),
        Story(ends="record"),
        Story(remover="kubelet-n1"),
        Story(second="n1"),
        Story(said="p on n2 is not ready"),
    ],
    ids=["it was over", "it was stopped", "by its kubelet", "on the same node", "of n2 alone"],
)
def test_who_did_no_such_thing_is_not_blamed(story: Story) -> None:
    """The containers were gone, or nothing is said of the node on which they were."""
    assert story.told() == []
