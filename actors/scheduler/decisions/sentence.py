"""Sentence: why a cycle ended as it did, in one sentence without its subject, for stories."""

from __future__ import annotations

from collections.abc import Sequence

from actors.scheduler.decisions.decision import Candidate, Decision, Preemption

NAMED_MAX = 4
"""Up to this many victims are named; of more, the first and the number of the others."""
WEIGHED_MAX = 20
"""Up to this many nodes, the next best is named; among thousands that would take long."""
WHYS = (
    "fewer budgets are broken than on",
    "its first victim is less important than that of",
    "its victims are less important, all together, than those of",
    "fewer have to go than from",
    "its most important victim began later than that of",
)
"""For each key of a candidate, what it means that it is smaller than another's (SCH-92)."""


def sentence_of(decision: Decision) -> str:
    """Which node was chosen, or which pods are evicted, and why; or why neither."""
    pod, preemption = decision.pod.key, decision.preemption
    if decision.displaces:
        return f"chose {decision.node} for {pod}, in place of less important pods there"
    if decision.node:
        return f"chose {decision.node} for {pod}: {_why_this_node(decision)}"
    if preemption is not None and preemption.chosen is not None:
        chosen = preemption.chosen
        who = _listed([victim.key for victim in chosen.victims])
        go = "goes" if len(chosen.victims) == 1 else "go"
        return f"made room for {pod} on {chosen.node}, where {who} {go}: {_why_there(preemption)}"
    return f"found no node for {pod}: {decision.message.rstrip('.')}"


def _why_this_node(decision: Decision) -> str:
    node = decision.node
    if not decision.refusals and decision.pod.status.nominated_node_name == node:
        return "it was nominated there"
    if len(decision.feasible) == 1:
        return "no other node will do" if decision.nodes > 1 else "there is no other node"
    others = list(decision.best)
    if node in others:
        others.remove(node)
    if others:
        return f"{_listed(others)} would have done as well"
    if not decision.scores:
        return f"it is the one of {len(decision.feasible)} that was picked"
    if len(decision.scores) > WEIGHED_MAX:
        total = sum(decision.scores[node].values())
        return f"it scores {total}, more than each other of {len(decision.scores)}"
    totals = {name: sum(scores.values()) for name, scores in decision.scores.items()}
    of_others = [(-total, name) for name, total in totals.items() if name != node]
    total, name = min(of_others)
    return f"it scores {totals[node]}, and {name}, the next, {-total}"


def _why_there(preemption: Preemption) -> str:
    chosen = preemption.chosen
    assert chosen is not None
    others = [each for each in preemption.candidates.values() if each.node != chosen.node]
    if not others:
        return "on no other node would that help"
    if len(preemption.tied) > 1:
        return f"{_listed([n for n in preemption.tied if n != chosen.node])} would do as well"
    best = min(others, key=lambda each: each.keys)
    # Only where nominations are written first is the nominated node taken whatever it costs.
    return "it was nominated there" if chosen.keys >= best.keys else _better(chosen, best)


def _better(chosen: Candidate, other: Candidate) -> str:
    """The first key by which the chosen candidate is better than the best of the others."""
    for why, ours, theirs in zip(WHYS, chosen.keys, other.keys, strict=False):
        if ours != theirs:
            return f"{why} {other.node}"
    return f"it is as good as {other.node}"


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMED_MAX:
        return f"{names[0]} and {len(names) - 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
