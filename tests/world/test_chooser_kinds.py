"""The Choosers by their names: found by looking, made when asked for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.chooser import Chooser
from testbed.choosers.calm import Calm
from testbed.choosers.urw import URW
from testbed.errors import UnknownName
from testbed.world import chooser_kinds
from testbed.world.chooser_kinds import chooser_of, known, seeded

OWN = {
    "plain": "class Plain(Chooser): pass",
    "two_words": "class TwoWords(Sampler): pass",
    "needy": "class Needy(Chooser):\n    def __init__(self, steps, *, again): pass",
    "half": "class Half(Chooser):\n    def __init__(self, seed, *, more): pass",
    "seedy": "class Seedy(Chooser):\n    def __init__(self, seed, *, more=1): pass",
    "own": "class Own(Sampler):\n    def __init__(self): pass",
    "__init__": "",
    "other": "class Another(Chooser): pass",
}


def test_those_that_come_with_the_testbed_are_known() -> None:
    """Not replayed, which needs a record, nor drawn, which needs Hypothesis's data."""
    assert {"calm", "pct", "pos", "surw", "uniform", "urw"} <= set(known())
    assert not {"drawn", "replayed"} & set(known())
    assert "calm" not in seeded()
    assert {"pct", "pos", "surw", "uniform", "urw"} <= set(seeded())


def test_each_that_is_known_can_be_made() -> None:
    """From its name and a seed; each its own."""
    kinds = [type(chooser_of(name, 7)) for name in known()]
    assert len({*kinds}) == len(kinds)
    assert all(issubclass(kind, Chooser) for kind in kinds)
    urw = chooser_of("urw", 7)
    assert isinstance(urw, URW)
    assert urw.seed == 7
    assert isinstance(chooser_of("calm", 7), Calm)


def test_an_unknown_one_is_named_with_the_nearest() -> None:
    """And those there are."""
    with pytest.raises(UnknownName, match=r"no chooser 'uwr'. Did you mean 'urw'"):
        chooser_of("uwr")


def test_a_new_one_is_one_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The class named as its file is found if it can be made from nothing, or from a seed."""
    for name, text in OWN.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(chooser_kinds, "FOLDER", tmp_path)
    assert known() == ["own", "plain", "seedy", "two_words"]
    assert seeded() == ["seedy", "two_words"]


def test_listing_them_loads_none() -> None:
    """Nor what they need: not trio, not Hypothesis."""
    code = (
        "import sys; from testbed.world.chooser_kinds import known; known(); "
        "print([name for name in sys.modules if name in ('trio', 'hypothesis') "
        "or name.startswith('testbed.choosers')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
