"""testbed switches, and `--switch` of a component in every command that takes one."""

from __future__ import annotations

import importlib
import json
import shutil
import sys
from pathlib import Path

import pytest

from testbed.cli import main
from testbed.cli.commands.switches import known


def test_every_component_that_comes_with_the_testbed_is_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With each of its switches, what that may be, what it is about, and what it is in profiles."""
    assert main(["switches"]) == 0
    out = capsys.readouterr().out
    for component in known().values():
        assert f"\n{component.name}: as in k8s-1.26" in f"\n{out}"
        for name, value in component.flat(component.of()).items():
            assert f"  {component.name}.{name}={value}    (" in out
    assert "      seed: qos_then_start\n" in out
    assert out.endswith("Next: testbed run double_bind --switch profile=k8s-1.26\n")


def test_one_component_can_be_asked_for_also_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    """In every profile what it is."""
    assert main(["switches", "apiserver", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["components"]
    assert listed["component"] == "apiserver"
    assert listed["switches"][0] == {
        "name": "clear_nnn_on_bind",
        "may_be": "on or off",
        "says": "Whether a bind clears the `nominatedNodeName` of the pod.",
        "in": {"alpha": "off", "seed": "off", "k8s-1.26": "off", "k8s-modern": "on"},
    }
    assert main(["switches", "apisever"]) == 2
    assert "no component 'apisever'. Did you mean 'apiserver'?" in capsys.readouterr().err


RACE = """\
scenario: double_bind
switches: {guard: off}
holds:
  - hold: alpha bind pods/default/c
    until: beta bind pods/default/d
expect:
  - switches: {apiserver.client_priority: reject_any}
    violates: no_node_is_overcommitted
  - switches: {guard: on, api.profile: seed}
    holds: [no_node_is_overcommitted]
"""


def test_each_command_takes_a_switch_of_a_component(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And passes it on: to the trace, to the race file, to the line that plays it again."""
    switch = ["--switch", "api.profile=seed"]

    def said(code: int, *words: str) -> str:
        assert main([*words]) == code, capsys.readouterr().err
        return capsys.readouterr().out

    out = said(0, "run", "double_bind", *switch)
    assert out.endswith("Again: testbed run double_bind --switch api.profile=seed\n")
    said(0, "run", "double_bind", *switch, "--trace", "a.jsonl")
    header = json.loads(Path("a.jsonl").read_text().partition("\n")[0])
    assert header["switches"]["api.profile"] == header["in_force"]["apiserver.profile"] == "seed"
    assert "The same to the byte" in said(0, "replay", "a.jsonl")
    out = said(1, "search", "double_bind", *switch, "--until-first")
    assert "--switch api.profile=seed" in out
    (found,) = Path("races").iterdir()
    assert "api.profile: seed" in found.read_text()
    said(1, "replay", str(found))
    said(0, "check", str(found))
    said(1, "explain", str(found))
    said(0, "keep", str(found))
    assert "api.profile: seed" in next(Path("tests").iterdir()).read_text()
    said(0, "sweep", "double_bind", "--fault", "crash", *switch)
    said(0, "mutants", "actors.apiserver", "--only", "unpaid", *switch)


def test_both_sides_of_a_race_file_switch_components(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A mistake in one is told with its line."""
    Path("a.race.yaml").write_text(RACE)
    assert main(["check", "a.race.yaml"]) == 0
    assert main(["replay", "a.race.yaml", "--switch", "api.profile=alpha"]) == 1
    Path("a.race.yaml").write_text(RACE.replace("api.profile", "ap.profile"))
    capsys.readouterr()
    assert main(["replay", "a.race.yaml"]) == 2
    assert "a.race.yaml, line 9: there is no part of double_bind" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "search", "sweep", "mutants"])
def test_each_command_refuses_a_switch_that_nothing_has(
    command: str, own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before it plays a Run; with what there is."""
    words = {"mutants": ["actors.apiserver", "--only", "unpaid"]}.get(command, ["double_bind"])
    more = ["--fault", "crash"] if command == "sweep" else []
    assert main([command, *words, *more, "--switch", "scheduler.queue=fifo"]) == 2
    said = capsys.readouterr()
    assert (said.out, "with switches 'scheduler'" in said.err) == ("", True)


SHOP = """
import attrs
from testbed import Actor
from testbed.objects import Note
from testbed.switches import Component, on_off, one_of

@attrs.frozen
class Switches:
    color: str = one_of({colors})
    {more}

@attrs.frozen
class Painter(Actor):
    {component}
    async def run(self, client):
        await client.create(Note("n"))

def shop(world, *, guard=False):
    world.start(Painter("alpha"))
"""
AS_IT_WAS = {
    "colors": '"red", "blue"',
    "more": "",
    "component": 'component = Component("painter", Switches)',
}


def replayed(own: Path, **text: str) -> int:
    """The exit code of a replay of what was recorded, with the scenario as it is now."""
    sys.modules.pop("shop", None)
    shutil.rmtree(own / "__pycache__", ignore_errors=True)
    (own / "shop.py").write_text(SHOP.format(**{**AS_IT_WAS, **text}))
    importlib.invalidate_caches()
    if not (own / "a.jsonl").exists():
        assert main(["run", "shop:shop", "--trace", "a.jsonl"]) == 0
    return main(["replay", "a.jsonl", "--scenario", "shop:shop"])


def test_a_trace_replays_though_a_component_has_got_a_switch(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or has become one at all; but not if what was in force no longer is."""
    assert replayed(own, component="") == 0
    assert replayed(own) == 0
    (own / "a.jsonl").unlink()
    assert replayed(own) == 0
    assert replayed(own, more="shiny: bool = on_off(False)") == 0
    capsys.readouterr()
    assert replayed(own, colors='"blue", "red"') == 4
    assert capsys.readouterr().err.startswith(
        "ReplayDiverged: painter.color was red when it was recorded, and is blue now: the component"
        " has changed since.\nNext: record it again: testbed run shop:shop "
    )
