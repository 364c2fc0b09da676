"""Switches of the kubelet: what differs between versions of Kubernetes, and the profiles."""

from __future__ import annotations

import attrs

from testbed.switches import Component, on_off, one_of, whole

OWN, ONE_S, ZERO = "k8s126", "modern_one", "documented_zero"
"""The values of `hard_evict_grace`."""
AFTER_STOP, AT_EXIT = "after_stop", "at_exit"
SHIPPED, SEED_PCT = "shipped", "seed_pct"
OFF, EVERY, ON_CHANGE = "off", "every", "on_change"
SCORE = "score"
CRITICAL, LOWER = "for_critical", "for_any"
"""The values of `preempts`."""


@attrs.frozen
class KubeletSwitches:
    """All of them; the first value of each is that of 1.26 (GEN-2)."""

    terminal_phase_before_delete: bool = on_off(False)
    """Whether the last status before the delete is Succeeded or Failed even if the restart policy
    is Always: newer than 1.26 (KUB-20)."""
    readmit_running: bool = on_off(True)
    """After a restart, whether pods that run have to be admitted again (KUB-43)."""
    publish_terminal: str = one_of(AFTER_STOP, AT_EXIT)
    """Whether a terminal phase is published once the node holds nothing of the pod any more, or as
    soon as its containers have exited, which was so until 1.23 (KUB-18)."""
    status_delay_ms: int = whole(0)
    """How long after each change of a status it is written."""
    bug_counts_terminal: bool = on_off(False)
    """A bug of 1.22: a kubelet that restarts also counts pods that are over when it admits pods
    again (kubernetes#105523)."""
    mirror_delay_ms: int = whole(0)
    """How long after its start a kubelet creates the mirror pods of static pods."""
    preempts: str = one_of(CRITICAL, LOWER)
    """For which pods it ends others at admission if resources are lacking: critical ones; or any
    that are more important than those others, an alternative that Kubernetes rejected. The
    scheduler's switch `preemptor` is its counterpart (CTL-54)."""
    victim_tiebreak: str = one_of("start_time", "qos", "qos_then_start", "none")
    """Of two such others of equal priority, which stays: as the scheduler's switch of that name."""
    # -- eviction -------------------------------------------------------------------------------
    evict_rank: str = one_of(SHIPPED, SEED_PCT)
    """Which pod is evicted first: one that uses more than it requests, then the less important,
    then the larger excess; or the less important, then the larger ratio of usage to request
    (KUB-32)."""
    evict_within_request: bool = on_off(True)
    """Whether a pod is evicted that uses no more than it requests (KUB-34)."""
    hard_evict_grace: str = one_of(OWN, ONE_S, ZERO)
    """The grace of a hard eviction: the pod's own, since 1.26 passes 0 and then takes 0 for "not
    given"; one second; or none, as documented (KUB-37)."""
    oom_model: str = one_of(OFF, SCORE)
    """What happens when more memory is used than the node has: nothing at all, or its kernel kills
    what has the highest score, and what has passed its own limit, as a real one does (KUB-40)."""
    # -- the node -------------------------------------------------------------------------------
    heartbeat: str = one_of(OFF, EVERY, ON_CHANGE)
    """Whether the kubelet reports that it lives: not at all; as often as the real one; or only when
    it begins, and then the Lease counts as renewed (`shared/node_lease.py`, KUB-41)."""


KUBELET = Component(
    "kubelet",
    KubeletSwitches,
    {
        "alpha": {},
        "seed": {"evict_rank": SEED_PCT, "hard_evict_grace": ZERO},
        "k8s-1.26": {},
        "k8s-modern": {"terminal_phase_before_delete": "on", "hard_evict_grace": ONE_S},
    },
)
"""With its profiles, and the switches in them that are not as in 1.26 (GEN-1)."""
