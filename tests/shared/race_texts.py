"""Races and their sentences, as texts."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from testbed.objects.meta import Map
from testbed.races.pattern import EVERY, Pattern
from testbed.races.race import ALWAYS, Expectation, Hold, Picked, Race, State, Strike, aim
from testbed.turns.option import ANSWER, DELIVER, FEED, RESUME, SERVE, START, WAKE
from testbed.world.fault_kinds import fault_of

NAMES = st.text("abz-", min_size=1, max_size=5)


SAID = st.text("ab #:'\"{}[]*&é", min_size=1, max_size=8)


LABELS = st.builds(" ".join, st.lists(st.text("ab/#2:", min_size=1, max_size=4), min_size=1))


SWITCHES = st.dictionaries(NAMES, st.text("ab.# ", max_size=4), max_size=2).map(Map)


WORD = st.text("abz-*?.", min_size=1, max_size=4)
ACTOR = st.text("abz-*?", min_size=1, max_size=4)
TASK = st.builds("/{}{}".format, WORD, st.sampled_from(["", "#2", "#10"]))
WHO = st.builds("{}{}".format, ACTOR, st.just("") | TASK)
KEY = st.builds("/".join, st.lists(WORD, min_size=1, max_size=4))
NTH = st.integers(EVERY, 3)
LIFE = st.integers(0, 3)
TIMER = st.builds(" ".join, st.lists(st.text("abz#2", min_size=1, max_size=4), min_size=1))
DRAWN = st.one_of(
    st.builds(Pattern, st.sampled_from([SERVE, ANSWER]), WHO, WORD, KEY, NTH, LIFE),
    st.builds(Pattern, st.just(FEED), WHO, st.just(""), KEY, NTH, LIFE),
    st.builds(
        Pattern,
        st.just(DELIVER),
        WHO,
        st.just(""),
        KEY,
        NTH,
        LIFE,
        st.sampled_from(["", "ADDED", "MODIFIED", "DELETED", "BOOKMARK"]),
    ),
    st.builds(Pattern, st.just(WAKE), WHO, TIMER, st.just(""), NTH, LIFE),
    st.builds(Pattern, st.sampled_from([START, RESUME]), WHO, st.just(""), st.just(""), NTH, LIFE),
)

MS = st.integers(0, 10**7)


UNTIL = st.none() | MS | DRAWN | st.builds(State, NAMES, st.booleans())


REQUEST = st.builds(Pattern, st.just(SERVE), NAMES, NAMES, NAMES, st.integers(0, 3))


@st.composite
def strikes(draw: st.DrawFn) -> Strike:
    """A fault of any kind, with some of its settings."""
    word = draw(st.sampled_from(["crash", "stall", "lag", "lose_reply", "server_error", "compact"]))
    target, operation = draw(NAMES), None
    settings: dict[str, Any] = {"times_max": draw(st.integers(1, 9))}
    if word in ("lose_reply", "server_error"):
        operation = draw(REQUEST)
        target = str(operation)
        if draw(st.booleans()):
            settings |= {"until_ms": draw(MS), "times_max": ALWAYS}
    if word == "server_error":
        settings["code"] = draw(st.sampled_from([403, 409, 429, 500, 503]))
    if word == "crash":
        settings["restart_after_ms"] = draw(st.none() | MS)
    if word == "lag":
        target = f"pods to {target}"
        settings |= {"by_ms": draw(MS), draw(st.sampled_from(["until_ms", "for_ms"])): draw(MS)}
    if word == "stall":
        settings[draw(st.sampled_from(["by_ms", "until_ms"]))] = draw(MS)
    when = draw(st.sampled_from(["after", "before", "at", *["" for _ in "x" if word != "crash"]]))
    moment = draw(MS) if when == "at" else draw(DRAWN) if when else None
    return Strike(fault_of(word, aim(target), **settings), target, operation, when, moment)


POD = "pods/default/c"


SENTENCES = {
    "alpha bind pods/default/c": Pattern(SERVE, "alpha", "bind", POD),
    "alpha/binder bind pods/default/c": Pattern(SERVE, "alpha/binder", "bind", POD),
    "alpha/binder#2 bind pods/default/c#3": Pattern(SERVE, "alpha/binder#2", "bind", POD, 3),
    "alpha update pods/default/c/status": Pattern(SERVE, "alpha", "update", f"{POD}/status"),
    "alpha update.2 pods/default/c": Pattern(SERVE, "alpha", "update.2", POD),
    "alpha list pods": Pattern(SERVE, "alpha", "list", "pods"),
    "alpha@2 get pods/default/c#*": Pattern(SERVE, "alpha", "get", POD, EVERY, 2),
    "* delete pods/*/c": Pattern(SERVE, "*", "delete", "pods/*/c"),
    "answer to alpha bind pods/default/c": Pattern(ANSWER, "alpha", "bind", POD),
    "answer to alpha@3/binder bind pods/default/c#2": Pattern(
        ANSWER, "alpha/binder", "bind", POD, 2, 3
    ),
    "delivery of pods/default/c to beta": Pattern(DELIVER, "beta", "", POD),
    "delivery of pods/default/c#2 to beta": Pattern(DELIVER, "beta", "", POD, 2),
    "delivery of DELETED pods/default/c#2 to beta": Pattern(
        DELIVER, "beta", "", POD, 2, change="DELETED"
    ),
    "delivery of pods/*#* to beta@2": Pattern(DELIVER, "beta", "", "pods/*", EVERY, 2),
    "delivery of pods/default/c to beta/watch-pods#2": Pattern(
        DELIVER, "beta/watch-pods#2", "", POD
    ),
    "feed of pods to api-2": Pattern(FEED, "api-2", "", "pods", EVERY),
    "feed of pods#1 to api-2": Pattern(FEED, "api-2", "", "pods", 1),
    "wake of alpha flush": Pattern(WAKE, "alpha", "flush"),
    "wake of alpha flush the queue#2": Pattern(WAKE, "alpha", "flush the queue", "", 2),
    "start of beta": Pattern(START, "beta"),
    "start of beta@2": Pattern(START, "beta", life=2),
    "start of beta/binder#2": Pattern(START, "beta/binder", nth=2),
    "start of beta/binder#2#1": Pattern(START, "beta/binder#2"),
    "turn of alpha/loop": Pattern(RESUME, "alpha/loop"),
    "turn of alpha/loop#*": Pattern(RESUME, "alpha/loop", nth=EVERY),
}


FULL = """\
# Two schedulers, one place: alpha is late.
scenario: double_bind
switches: {guard: off, alpha.queue: "fifo \\u00231"}
without: [gamma, pods/default/e]
holds:
  - hold: alpha bind pods/default/c
    until: beta bind pods/default/d
  - hold: answer to alpha delete pods/default/v
    until: 5s
  - hold: delivery of pods/default/d#2 to beta
    until: beta is down
  - hold: feed of pods to api-2
    until: quiet
faults:
  - crash: alpha
    after: alpha delete pods/default/victim
    restart: 2s
  - lose_reply: beta bind pods/default/d#2
    until: 22s
  - server_error: beta update pods/default/d/status
    before: beta list pods
    code: 429
    times: 3
  - lag: pods to alpha
    at: 20s
    by: 100ms
    until: 22s
  - stall: alpha
    at: 60s
    by: 100ms
  - stall: beta
    until: 3600s
  - clock_step: alpha
    by: -5s
picks:
  - alpha node for pods/default/c: n2
  - alpha@2/binder node#2: n3
expect:
  - switches: {guard: off}
    violates: no_node_is_overcommitted
  - switches: {guard: on}
    holds: [no_node_is_overcommitted]
"""


RACES = st.builds(
    Race,
    NAMES,
    SWITCHES,
    st.lists(NAMES, max_size=2).map(tuple),
    st.lists(st.builds(Hold, DRAWN, UNTIL), max_size=3).map(tuple),
    st.lists(strikes(), max_size=3).map(tuple),
    st.lists(
        st.builds(Picked, NAMES, LABELS, SAID, st.integers(1, 3), st.integers(0, 2)), max_size=3
    ).map(tuple),
    st.lists(
        st.builds(Expectation, SWITCHES, NAMES)
        | st.builds(Expectation, SWITCHES, st.just(""), st.lists(NAMES, max_size=2).map(tuple)),
        max_size=2,
        unique_by=lambda side: side.switches,
    ).map(tuple),
)
