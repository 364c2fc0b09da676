"""PageData by hand: the stolen slot in a few moments, with one of each thing a page can show."""

from __future__ import annotations

from typing import Any

ALPHA, BEN, STORE, BETA, KUBELET = "alpha", "ben", "store", "beta", "kubelet-n1"
VICTIM, URGENT, LATE = "pods/default/victim", "pods/default/urgent", "pods/default/late"
NODE = "nodes/n1"

_VERSIONS = [
    (NODE, 2, "1 CPU, ready", "plain", "", 1000),
    (VICTIM, 6, "Running on n1", "running", "n1", 800),
    (URGENT, 8, "Pending, priority 100", "pending", "", 800),
    (VICTIM, 9, "Running on n1, terminating", "terminating", "n1", 800),
    (URGENT, 11, "Pending, nominated to n1", "pending", "", 800),
    (LATE, 14, "Pending", "pending", "", 800),
    (LATE, 19, "Scheduled on n1", "running", "n1", 800),
]
SENTENCES = [
    ("alpha made room for pods/default/urgent on n1, where pods/default/victim goes.", [89]),
    ("alpha patched the status of pods/default/urgent at rv 11: nominated to n1.", [96]),
    ("alpha's watch of pods began to lag.", [117]),
    ("beta found no node for pods/default/late: 1 Insufficient cpu.", [123]),
    ("beta chose n1 for pods/default/late: there is no other node.", [144]),
    ("So no_room_is_stolen is broken: pods/default/late has taken the room.", [146]),
]


def page_data(*, told_map: dict[str, Any] | None = None) -> dict[str, Any]:
    """The whole of it; with a map, it can be played."""
    race = "scenario: stolen_slot\nfaults:\n  - lag: pods to alpha\n    at: 10s\n    by: 2s\n"
    again = "testbed explain scenarios/slots/stolen_slot.race.yaml"
    cause = (
        "beta bound pods/default/late to n1 (step 146), into the room that alpha had set aside "
        "there for pods/default/urgent at rv 11 (step 96); beta had already seen that."
    )
    return {
        "format": "testbed-page/1",
        "title": "stolen_slot",
        "outcome": "violated",
        "claim": "no_room_is_stolen",
        "said": "room was made on n1 for pods/default/urgent, and pods/default/late has taken it",
        "setting": "guard=off",
        "cause": cause,
        "causeSteps": [96, 146],
        "sentences": [{"said": said, "steps": steps} for said, steps in SENTENCES],
        "figures": [
            {"label": "faults", "value": "1"},
            {"label": "window", "value": "≥ 2 s"},
            {"label": "virtual time", "value": "12,000 ms"},
            {"label": "turns", "value": "145"},
        ],
        "again": again,
        "issue": f"## no_room_is_stolen\n\n{cause}\n\n```\n{again}\n```\n",
        "race": {"file": "stolen_slot.race.yaml", "text": race},
        "runs": [run(), run(calm=True)],
        "calm": 1,
        "whatIf": [
            _what("lag: pods to alpha", "deviation", 1, "urgent ran on n1"),
            _what("guard=on", "switch", -1, "beta counted the nomination"),
        ],
        "growth": [
            {"step": step, "failed": failed, "runs": 40}
            for step, failed in ((0, 1), (96, 2), (117, 9), (130, 11), (144, 39), (146, 40))
        ],
        "looked": [
            {"label": "Looked at", "value": "1 run (a race of 1 deviation), 145 turns"},
            {"label": "Profile", "value": "k8s-1.26"},
        ],
        "keep": [{"label": "pytest", "text": "pytest scenarios/slots/stolen_slot.race.yaml"}],
        "map": told_map,
        "level": None,
    }


def _what(said: str, kind: str, run: int, shown: str) -> dict[str, Any]:
    return {
        "said": said, "kind": kind, "isNeeded": True, "outcome": "held", "shown": shown, "run": run,
    }  # fmt: skip


def run(*, calm: bool = False) -> dict[str, Any]:
    """The race; or the calm run, which is the same up to the fault."""
    moments = [moment for moment in _moments() if not calm or moment["step"] < 117]
    last = moments[-1]["step"]
    return {
        "name": "the calm run" if calm else "the race",
        "outcome": "held" if calm else "violated",
        "claim": "" if calm else "no_room_is_stolen",
        "said": "Nothing is late." if calm else "alpha is told too late that its victim has gone.",
        "lanes": [
            {"name": name, "kind": "store" if name == STORE else "actor"}
            for name in (ALPHA, BEN, STORE, BETA, KUBELET)
        ],
        "versions": [_version(*version) for version in _VERSIONS],
        "moments": moments,
        "arrows": [arrow for arrow in _arrows() if arrow["to"]["step"] <= last],
        "terminating": [{"key": VICTIM, "from": 90, "to": min(143, last)}],
    }


def _version(key: str, rv: int, said: str, state: str, node: str, cpu: int) -> dict[str, Any]:
    kind, name = key.split("/")[0], key.split("/")[-1]
    fields = [["status.phase", said.split(",")[0]], ["spec.nodeName", node or "–"]]
    return {
        "key": key, "kind": kind, "name": name, "rv": rv, "said": said, "state": state,
        "node": node, "cpu": cpu, "fields": fields,
    }  # fmt: skip


def _mark(
    lane: str, step: int, sign: str, text: str, key: str = "", *reasons: str
) -> dict[str, Any]:
    weight = 1 if sign in ("told", "noted") else 2
    return {
        "lane": lane, "step": step, "sign": sign, "text": text, "reasons": list(reasons),
        "weight": weight, "key": key,
    }  # fmt: skip


def _told(lane: str, rv: int, *changed: list[Any]) -> dict[str, Any]:
    return {"lane": lane, "rv": rv, "changed": list(changed)}


def _moments() -> list[dict[str, Any]]:
    all_of = [[NODE, 0], [VICTIM, 1]]
    told, reason = _told, "n1: 1 Insufficient cpu"
    rows: list[tuple[int, int, int, list[Any], list[Any], list[Any], list[int]]] = [
        (0, 0, 6, [], all_of, [told(BETA, 6, *all_of), told(KUBELET, 6, *all_of)], []),
        (80, 1000, 8, [_mark(BEN, 80, "did", "create urgent", URGENT)], [[URGENT, 2]], [], []),
        (84, 1000, 8, [_mark(ALPHA, 84, "told", "is told of urgent", URGENT)], [],
         [told(ALPHA, 8, *all_of, [URGENT, 2])], []),
        (89, 1000, 8, [_mark(ALPHA, 89, "noted", "made room for urgent", URGENT, reason)], [], [],
         [0]),
        (90, 1000, 9, [_mark(ALPHA, 90, "did", "delete victim", VICTIM)], [[VICTIM, 3]],
         [told(KUBELET, 9, [VICTIM, 3])], []),
        (96, 1000, 11, [_mark(ALPHA, 96, "did", "nominate urgent → n1", URGENT)], [[URGENT, 4]],
         [told(ALPHA, 11, [VICTIM, 3], [URGENT, 4])], [1]),
        (117, 10000, 11, [_mark(ALPHA, 117, "struck", "its watch of pods lags")], [], [], [2]),
        (120, 10500, 14, [_mark(BEN, 120, "did", "create late", LATE)], [[LATE, 5]], [], []),
        (123, 10500, 14, [_mark(BETA, 123, "noted", "found no node for late", LATE, reason)], [],
         [told(BETA, 14, [VICTIM, 3], [URGENT, 4], [LATE, 5])], [3]),
        (143, 12000, 18, [_mark(KUBELET, 143, "did", "victim has stopped", VICTIM)],
         [[VICTIM, -1]], [told(BETA, 18, [VICTIM, -1])], []),
        (144, 12000, 18, [_mark(BETA, 144, "noted", "chose n1 for late", LATE, "no other node")],
         [], [], [4]),
        (146, 12000, 19, [_mark(BETA, 146, "did", "bind late → n1", LATE),
                          _mark(ALPHA, 146, "broke", "no_room_is_stolen", URGENT)],
         [[LATE, 6]], [], [5]),
    ]  # fmt: skip
    return [
        {
            "step": step, "ms": ms, "marks": marks, "rv": rv, "truth": truth, "beliefs": beliefs,
            "tells": tells,
        }
        for step, ms, rv, marks, truth, beliefs, tells in rows
    ]  # fmt: skip


def _arrows() -> list[dict[str, Any]]:
    rows = [
        ("request", BEN, 80, STORE, 80, "solid", 1),
        ("news", STORE, 80, ALPHA, 84, "solid", 1),
        ("request", ALPHA, 90, STORE, 90, "solid", 2),
        ("request", ALPHA, 96, STORE, 96, "solid", 2),
        ("answer", STORE, 96, ALPHA, 117, "lost", 1),
        ("request", BEN, 120, STORE, 120, "refused", 1),
        ("news", STORE, 120, BETA, 123, "solid", 0),
        ("request", KUBELET, 143, STORE, 143, "solid", 1),
        ("news", STORE, 143, ALPHA, 146, "dotted", 2),
        ("request", BETA, 146, STORE, 146, "solid", 2),
        ("stale", BETA, 146, STORE, 96, "solid", 2),
    ]
    return [
        {
            "kind": kind, "from": {"lane": from_, "step": start}, "to": {"lane": to, "step": end},
            "line": line, "text": f"{kind} of {from_} to {to}", "weight": weight,
        }
        for kind, from_, start, to, end, line, weight in rows
    ]  # fmt: skip
