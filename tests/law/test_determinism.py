"""The law of the house: the same choices are the same Run, byte for byte, wherever it is played."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent

import pytest

from testbed.cli.benches.determinism import measure

ROOT = Path(__file__).parent.parent.parent
# Importing Hypothesis alone makes trio's own shuffling repeatable, which would hide that something
# depends on it: so the witness is heard with it and without.
WITNESS = """
    import runpy, sys
    for name in sys.argv[2:]:
        __import__(name)
    sys.path[:0] = ["."]
    runpy.run_module("tests.models.witness", run_name="__main__")
"""


def start(code: str, hash_seed: str, *args: str) -> subprocess.Popen[str]:
    """Begin to run it in another process."""
    return subprocess.Popen(
        [sys.executable, "-c", dedent(code), *args],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def ended(processes: Iterable[subprocess.Popen[str]]) -> list[str]:
    """What each has printed."""
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert all(outputs), "a process has failed; its error stands above"
    return outputs


@pytest.mark.spec("INV-44")
def test_no_process_and_no_driver_makes_another_trace() -> None:
    """Not with another hash seed, and not with Hypothesis imported or left out. The bare loop and
    trio agree in every byte, without crashes, with them, and with picks, time, watches and other
    faults; each of these makes other traces, and the crashes do strike, in scenarios that allow no
    faults by themselves."""
    loaded = ["hypothesis", "pytest"]
    pair = [start(WITNESS, "1", "trio"), start(WITNESS, "random", "direct", *loaded)]
    bare, other = (json.loads(output) for output in ended(pair))
    assert [bare.pop("loaded"), other.pop("loaded")] == [[], loaded]
    assert bare == other
    assert len(set(bare["digests"].values())) == 4
    by_themselves, with_crashes = bare["struck"]
    assert with_crashes > by_themselves + 6


@pytest.mark.spec("INV-44")
def test_other_runs_make_other_traces() -> None:
    """A digest that never changes would prove nothing: another seed changes it, and one Run
    more."""
    plain = measure(runs=2, scenario="grace_gap", driver="direct")["digest"]
    assert plain == measure(runs=2, scenario="grace_gap", driver="direct")["digest"]
    assert plain != measure(runs=1, scenario="grace_gap", driver="direct")["digest"]
    assert plain != measure(runs=2, seed=1, scenario="grace_gap", driver="direct")["digest"]


# -- a leak is seen -------------------------------------------------------------------------------

LEAKY = """
    import hashlib, random, sys
    import attrs
    from testbed import Actor, Calm, Trace
    from testbed.objects import Note
    from testbed.world.world import World

    @attrs.frozen
    class Leaky(Actor):
        leak: str

        async def run(self, client):
            for name in eval(self.leak):
                await client.create(Note(str(name)))

    for leak in sys.argv[1:]:
        trace = Trace({}, keep=True)
        world = World()
        world.start(Leaky("alpha", leak))
        world.run(Calm(), trace=trace)
        print(trace.digest())
"""
LEAKS = (
    "{'a', 'b', 'c', 'd', 'e', 'f'}", "[hash('a'), hash('b')]", "[random.random()]",
    "[random.SystemRandom().getrandbits(64)]",
)  # fmt: skip
"""The order of a set, a hash, global random, and chance from the machine."""
HONEST = "['a', 'b', 'c']"


@pytest.mark.spec("INV-44")
def test_what_reads_the_machine_is_caught() -> None:
    """Of an actor that lets something outside the World decide, the digests differ between two
    processes: so they would above. The same actor with a list makes the same trace in both."""
    one, other = ended([start(LEAKY, seed, HONEST, *LEAKS) for seed in ("1", "2")])
    digests = zip((HONEST, *LEAKS), one.split(), other.split(), strict=True)
    assert [leak for leak, here, there in digests if here == there] == [HONEST]
