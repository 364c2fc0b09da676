"""bench cluster: a full life of a cluster, its cost in time and in memory, and how both grow.

It is played at a quarter, at half and at all of the size, with heartbeats that cost a write only if
something changes, and at all of the size with the heartbeats of a real kubelet. `life` says what
happens in it. Each life has a process of its own, so that its peak of memory can be told.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

from testbed.child import child_command, child_env
from testbed.cli.benches.life import STAGES
from testbed.errors import HarnessBug, ScenarioError
from testbed.objects.codec import decode

NODES = (100,)
PODS = 1_000
PARTS = (4, 2, 1)
"""The sizes at which memory is compared: a quarter, half, all."""
LIFE = "testbed.cli.benches.life"


def length(**_: Any) -> int:
    """The number of stages to play, for the progress bar."""
    return len(STAGES) * (len(PARTS) + 1)


def measure(nodes: Sequence[int] = NODES, pods: int = PODS, done: Any = int) -> dict[str, Any]:
    """The figures of the lives at full size, and what a kept object costs at each size."""
    if len(nodes) != 1:
        raise ScenarioError(
            f"--nodes {','.join(map(str, nodes))}: the benchmark 'cluster' plays one size, and "
            "parts of it; expected one number.\n"
            "Next: testbed bench cluster --nodes 1000 --pods 10000"
        )
    lives = {
        part: _life(max(nodes[0] // part, 1), max(pods // part, 1), "on_change", done)
        for part in PARTS
    }
    every = _life(nodes[0], pods, "every", done)
    per_kept = {part: life["bytes_per_kept"] for part, life in lives.items()}
    return {
        "nodes": nodes[0],
        "pods": pods,
        "second_roll_to_first": lives[1]["second_roll_to_first"],
        "memory_growth": round(per_kept[PARTS[-1]] / per_kept[PARTS[0]], 3),
        **{f"bytes_per_kept_at_1/{part}": cost for part, cost in per_kept.items()},
        "heartbeats_on_change": lives[1],
        "heartbeats_every": every,
    }


def _life(nodes: int, pods: int, heartbeat: str, done: Any) -> dict[str, Any]:
    """Play one life in another process; each stage that is over is told to `done`."""
    given = [str(nodes), str(pods), heartbeat]
    figures: dict[str, Any] = {}
    with subprocess.Popen(
        [*child_command(LIFE), *given], env=child_env(), stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            told = decode(line)
            figures = told.get("figures", figures)
            if "stage" in told:
                done(1)
    if child.returncode or not figures:
        raise HarnessBug(
            f"the life of {nodes} nodes and {pods} pods has ended with {child.returncode}.\n"
            f"Next: python -m {LIFE} {' '.join(given)}"
        )
    return figures
