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
from tests.each_row import each_row
from tests.models.witness import SLOW

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

Digests = dict[str, str]


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


def digests() -> list[Digests]:
    """Of two processes at a time: under trio with one hash seed and without Hypothesis, and in the
    bare loop with another seed and with it."""
    loaded = [[], ["hypothesis", "pytest"]]
    pair = [start(WITNESS, "1", "trio"), start(WITNESS, "random", "direct", *loaded[1])]
    heard = [json.loads(output) for output in ended(pair)]
    assert [each["loaded"] for each in heard] == loaded
    return [each["digests"] for each in heard]


@pytest.mark.spec("INV-44")
def test_no_process_and_no_driver_makes_another_trace() -> None:
    """Not with another hash seed, and not with Hypothesis imported or left out. The bare loop and
    trio agree in every byte, without crashes, with them, and with picks, time, watches and other
    faults; and each of these makes other traces."""
    bare, other = digests()
    assert bare == other
    assert len(set(bare.values())) == 4


@pytest.mark.spec("INV-44")
def test_other_runs_make_other_traces() -> None:
    """A digest that never changes would prove nothing: another seed changes it, and one Run
    more."""
    plain = measure(runs=2, scenario="grace_gap", driver="direct")["digest"]
    assert plain == measure(runs=2, scenario="grace_gap", driver="direct")["digest"]
    assert plain != measure(runs=1, scenario="grace_gap", driver="direct")["digest"]
    assert plain != measure(runs=2, seed=1, scenario="grace_gap", driver="direct")["digest"]


def test_crashes_do_strike() -> None:
    """What was compared above had crashes in it; `crashes` counts every fault that struck, and some
    scenarios allow faults by themselves."""
    by_themselves = measure(runs=1, left_out=SLOW, driver="direct")["crashes"]
    assert measure(runs=1, crashes=2, left_out=SLOW, driver="direct")["crashes"] > by_themselves + 6


# -- a leak is seen -------------------------------------------------------------------------------

LEAKY = """
    import hashlib, random, sys
    import attrs
    from testbed import Actor, Calm, Trace
    from testbed.objects import Note
    from testbed.world.world import World

    @attrs.frozen
    class Leaky(Actor):
        async def run(self, client):
            for name in LEAK:
                await client.create(Note(str(name)))

    trace = Trace({}, keep=True)
    world = World()
    world.start(Leaky("alpha"))
    world.run(Calm(), trace=trace)
    print(trace.digest())
"""
LEAKS = {
    "the order of a set": "{'a', 'b', 'c', 'd', 'e', 'f'}",
    "a hash": "[hash('a'), hash('b')]",
    "global random": "[random.random()]",
    "chance from the machine": "[random.SystemRandom().getrandbits(64)]",
}


@pytest.mark.spec("INV-44")
@each_row("leak", LEAKS.values(), ids=LEAKS.keys())
def test_what_reads_the_machine_is_caught(leak: str) -> None:
    """Of an actor that lets something outside the World decide, the digests differ between two
    processes: so they would above."""
    code = LEAKY.replace("LEAK", leak)
    one, other = ended([start(code, "1"), start(code, "2")])
    assert one != other


def test_an_honest_actor_is_not_caught() -> None:
    """The same actor with a list makes the same trace in both."""
    code = LEAKY.replace("LEAK", "['a', 'b', 'c']")
    one, other = ended([start(code, "1"), start(code, "2")])
    assert one == other
