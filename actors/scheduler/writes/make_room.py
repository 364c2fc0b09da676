"""Make room: evict the victims of a preemption, in the order of the real scheduler.

All of it happens within the pod's cycle and in one task. Before each eviction the next victim is
picked, so every order can come about; the calm one is that of the decision (SCH-96).
"""

from __future__ import annotations

from actors.scheduler.decisions.decision import Candidate, Decision
from actors.scheduler.decisions.pick import DEFAULT_PREEMPTION
from actors.scheduler.writes.deed import Deed
from actors.scheduler.writes.difference import difference
from actors.scheduler.writes.victim_end import end_victim
from testbed import ApiError, NotFound
from testbed.objects import Condition, Pod, condition
from testbed.objects.meta import evolved

PREEMPTION = "PreemptionByKubeScheduler"


async def make_room(deed: Deed, decision: Decision, chosen: Candidate) -> bool:
    """Evict the victims one after another, then clear the nominations of less important pods there.
    With `nominate=before_victims`, the pod is nominated first.

    False if an error broke it off: the victims evicted so far stay evicted, and the pod's
    nomination is left as it is (SCH-99).
    """
    books = deed.books
    left = list(chosen.victims)
    if books.switches.nominate == "before_victims":
        try:
            await _nominate_first(deed, decision.pod, chosen.node)
        except ApiError as error:
            return _broken_off(deed, decision.pod, error)
    while left:
        victim = books.client.pick("next victim", left)
        left.remove(victim)
        try:
            await _evict(deed, decision.pod, victim)
        except NotFound as error:
            if books.switches.victim_not_found == "error":
                return _broken_off(deed, victim, error)
        except ApiError as error:
            return _broken_off(deed, victim, error)
        books.recorder.note(
            victim, "Preempted", f"Preempted by a pod on node {chosen.node}", action="Preempting",
            related=decision.pod,
        )  # fmt: skip
    for pod in _less_important(deed, decision.pod, chosen):
        await deed.clear_nomination(pod)
    return True


def _broken_off(deed: Deed, pod: Pod, error: ApiError) -> bool:
    message = f"broke off its preemption at {pod.key}: {error}"
    deed.books.client.record("preemption broken off", said=message, victim=pod.key)
    return False


async def _nominate_first(deed: Deed, pod: Pod, node: str) -> None:
    """Nominate the pod, unless it has changed meanwhile; ApiError."""
    # Whoever comes after a crash goes by what is written. So a nomination that an earlier life has
    # sent, and that is still under way, must not undo the one of a later life: it names a revision.
    books = deed.books
    known = books.informers.pod(pod.key) or pod
    if books.beliefs.nominator.said(known) != node:
        await deed.nominate(known, node, is_first=True)


async def _evict(deed: Deed, preemptor: Pod, victim: Pod) -> None:
    """Reject a victim that waits for Permit plugins; mark and delete any other; ApiError."""
    books = deed.books
    waiting = books.beliefs.waiting.get(victim.meta.uid)
    if waiting is not None:
        waiting.reject(DEFAULT_PREEMPTION, "preempted")
        return
    switches = books.switches
    if switches.victims_go_by == "delete" and switches.disruption_condition:
        await _mark(deed, preemptor, victim)
    books.must_lead()
    await end_victim(books.client, victim, switches, deed.because)


async def _mark(deed: Deed, preemptor: Pod, victim: Pod) -> None:
    """Patch the victim's condition DisruptionTarget; ApiError."""
    books = deed.books
    # The bug of 1.26: the new status is made from the preemptor's, and the patch is its difference
    # to the victim's. So the victim also takes over phase, start time and conditions (SCH-97).
    is_mixed_up = books.switches.bug_disruption_status_from_preemptor
    source = preemptor if is_mixed_up else victim
    message = f"{preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
    target = Condition("DisruptionTarget", "True", PREEMPTION, message)
    conditions = condition.having(source.status.conditions, target, books.client.now())
    if conditions is not source.status.conditions:
        status = evolved(source.status, conditions=conditions)
        await deed.patch_status(victim, difference(victim, status, of=source))


def _less_important(deed: Deed, pod: Pod, chosen: Candidate) -> list[Pod]:
    """The pods that are nominated to that node by now, and are to lose it (SCH-100)."""
    books = deed.books
    here = [info.pod for info in books.beliefs.nominator.on(chosen.node)]
    if books.switches.clear_lower == "only_if_unfit":
        unfit = {each.meta.uid for each in chosen.lower}
        return [each for each in here if each.meta.uid in unfit]
    return [each for each in here if each.priority < pod.priority]
