"""Findings: one for each cause, whoever it befalls; and no more Runs shrunk than are needed."""

from __future__ import annotations

from testbed.objects.codec import decode, encode
from testbed.races.race import Race
from testbed.races.racefile import parse
from testbed.search.finding import Finding, Findings, cause_of, legality, reason
from testbed.search.planned_run import Breach, Outcome
from tests.each_row import each_row
from tests.shared.findings import finding, violated


def race(text: str) -> Race:
    """A race of `double_bind`."""
    return parse(f"scenario: double_bind\n{text}", "here")


BIND = """holds:
  - hold: {0} bind pods/default/{1}
    until: {2} bind pods/default/{3}
"""


def test_names_make_no_cause() -> None:
    """The same shape with the actors and the pods the other way round is the same race."""
    one, other = (
        race(BIND.format("alpha", "c", "beta", "d")),
        race(BIND.format("beta", "d", "alpha", "c")),
    )
    assert cause_of(one, "claim") == cause_of(other, "claim")


def test_names_in_labels_and_timers_make_no_cause() -> None:
    """A pick for one pod or the other, a timer named after one actor or the other."""
    picks = "picks:\n  - {0} node for pods/default/{1}: n2\n"
    wakes = "holds:\n  - hold: wake of {0} retry {0} 3\n    until: quiet\n"
    for text in (picks, wakes):
        one, other = (race(text.format(*who)) for who in (("alpha", "c"), ("beta", "d")))
        assert cause_of(one, "claim") == cause_of(other, "claim")


def test_who_dies_in_one_place_dies_of_one_cause() -> None:
    """Whatever led there: what must be mended is that place."""
    one, other = (
        reason(Breach("no_actor_dies", f"{who} died", "died", "KeyError in run of lab.py"))
        for who in ("alpha", "beta")
    )
    shape = race(BIND.format("alpha", "c", "beta", "d"))
    assert cause_of(shape, one) == cause_of(Race("double_bind"), other)


@each_row(
    "text",
    [
        BIND.format("alpha", "c", "alpha", "d"),
        BIND.format("alpha", "c", "beta", "d")
        .replace("beta bind", "delivery of")
        .replace("default/d", "default/d to beta"),
        "holds:\n  - hold: alpha bind pods/default/c\n    until: 5s\n",
        "holds:\n  - hold: alpha bind pods/default/c\n    until: quiet\n",
        "holds:\n  - hold: alpha bind pods/default/c\n    until: beta is down\n",
        "holds:\n  - hold: alpha list nodes\n    until: beta bind pods/default/d\n",
        "faults:\n  - crash: alpha\n    after: alpha bind pods/default/c\n",
        "faults:\n  - lose_reply: alpha bind pods/default/c\n",
        "picks:\n  - alpha node: n2\n",
    ],
)
def test_another_shape_is_another_cause(text: str) -> None:
    """What is held, until what, by whom, what fails and when: each makes a difference."""
    plain = race(BIND.format("alpha", "c", "beta", "d"))
    assert cause_of(race(text), "claim") != cause_of(plain, "claim")
    assert cause_of(plain, "claim") != cause_of(plain, "another claim")


def test_each_fault_says_why_it_may_happen() -> None:
    """In the words that its kind has for itself."""
    (crash, lost) = legality(
        race("faults:\n  - crash: alpha\n    at: 0ms\n  - lose_reply: alpha bind pods/default/c\n")
    )
    assert crash.fault == "crash: alpha at 0ms"
    assert crash.why.endswith("Every process can be killed at any time.")
    assert lost.why.startswith("An operation has taken effect, and its caller is not told.")


@each_row(
    ("text", "told"),
    [
        ("lose_reply: alpha get notes/default/n\n    after: alpha get notes/default/n",
         "lose_reply: alpha get notes/default/n"),
        ("lose_request: alpha get notes/default/n\n    before: alpha get notes/default/n",
         "lose_request: alpha get notes/default/n"),
        ("lose_reply: alpha get notes/default/n\n    after: beta get notes/default/n",
         "lose_reply: alpha get notes/default/n after beta get notes/default/n"),
        ("crash: alpha\n    after: alpha get notes/default/n",
         "crash: alpha after alpha get notes/default/n"),
    ],
)  # fmt: skip
def test_a_fault_names_its_request_once(text: str, told: str) -> None:
    """What is lost at its own moment; any other moment is told."""
    (strike,) = race(f"faults:\n  - {text}\n").faults
    assert strike.told == told


def test_of_runs_alike_ever_fewer_are_shrunk() -> None:
    """The 1st, the 4th, the 16th, …, whatever is common; each kind of fault counts apart."""
    shrunk: list[int] = []

    def told(outcome: Outcome, breach: Breach, name: str) -> Finding:
        shrunk.append(outcome.run)
        return finding(outcome, breach, name)

    findings = Findings(told)
    for run in range(1, 65):
        findings.take(violated(run, "x"))
    findings.take(violated(65, "x", faults=("crash",)))
    assert shrunk == [1, 4, 16, 64, 65]
    assert findings.breaches == {"claim": 65}
    assert [f.name for f in findings.found] == ["claim"]


def test_what_hides_behind_a_common_race_is_found() -> None:
    """The second cause for the same claim is a Finding of its own, with a name of its own."""
    findings = Findings(finding)
    new = [findings.take(violated(run, "y" if run == 4 else "x")) for run in range(1, 6)]
    assert [[f.name for f in found] for found in new] == [["claim"], [], [], ["claim-2"], []]


def test_a_finding_survives_the_journey() -> None:
    """What the Ledger keeps is what was found."""
    faults = legality(race("faults:\n  - crash: alpha\n    at: 0ms\n"))
    whole = Finding("n", "i", "s", ("c",), "r", 1, "w", 3, faults, 4, "pct", 5, "l")
    assert Finding.of(decode(encode(whole.as_dict()))) == whole
