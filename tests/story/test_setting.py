"""Setting: the one switch of a component that a guard sets otherwise stands before the cause."""

from __future__ import annotations

from testbed.choosers.calm import Calm
from testbed.races.playing import play
from testbed.story.explain import Issue, explain_md, explained, story
from testbed.story.reruns.setting import said
from testbed.turns.trace import Trace
from testbed.turns.verdict import Verdict
from testbed.world.scenario import find
from tests.each_row import each_row
from tests.models.worlds.shelved import race_named


def told(name: str, guard: str = "off") -> tuple[Trace, Verdict]:
    """The race of a scenario, played."""
    played = play(race_named(name), find(name), switches={"guard": guard})
    return played.trace, played.verdict


@each_row(
    ("name", "begins"),
    [
        ("restart_readmission", "kubelet-n1 runs with bug_counts_terminal=on, which the guard sets "
         'to off: "A bug of 1.22: a kubelet that restarts also counts pods that are over '),
        ("hostile_schedulers", "alpha and beta run with hostile=on, which the guard sets to off: "),
        ("starvation", "alpha runs with profile=alpha, which the guard sets to k8s-1.26."),
    ],
)  # fmt: skip
def test_it_says_by_which_setting_with_the_words_of_the_switch(name: str, begins: str) -> None:
    """Of a profile it says the name; and it cites no requirement."""
    trace, verdict = told(name)
    sentence = said(trace)
    assert sentence.startswith(begins)
    assert "KUB-" not in sentence
    assert " ".join(story(trace, verdict).split()).startswith(sentence)
    assert explained(trace, verdict)["cause"]["setting"] == sentence
    head = explain_md(trace, verdict, Issue()).splitlines()
    assert head[2].replace("\\", "").startswith(begins.partition(",")[0])


def test_a_guard_that_changes_something_else_has_no_setting() -> None:
    """Who schedules which pod, or which plugin there is."""
    for name in ("stolen_slot", "late_bind", "lost_update"):
        assert said(told(name)[0]) == ""


def test_with_the_guard_on_nothing_is_set_otherwise() -> None:
    """Nor is it if the Run is not kept, of which no World is known."""
    assert said(told("restart_readmission", "on")[0]) == ""
    trace = Trace({})
    find("restart_readmission").world({"guard": "off"}).run(Calm(), driver="direct", trace=trace)
    assert said(trace) == ""
