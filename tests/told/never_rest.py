"""The truth about each of the twelve Worlds of `tests/never_rest`."""

from __future__ import annotations

from tests.never_rest.children import children
from tests.never_rest.cloud import cloud
from tests.never_rest.descheduler import descheduler
from tests.never_rest.gangs import gangs
from tests.never_rest.heartbeats import heartbeats
from tests.never_rest.lock import lock
from tests.never_rest.nodes import nodes
from tests.never_rest.polling import polling
from tests.never_rest.pressure import pressure
from tests.never_rest.replicas import replicas
from tests.never_rest.rollout import rollout
from tests.never_rest.workers import workers
from tests.told.frame import Told

TWELVE = (
    Told(
        heartbeats,
        race="""
holds:
  - hold: delivery of nodes/n1 to monitor
    until: monitor update nodes/n1
""",
        actor="monitor",
        made_so="agent",
        about="nodes/n1",
        did=("updated", "tainted", "taint"),
        words=("heartbeat",),
        never=("agent patched nodes/n1, ",),
        said=(
            "monitor tainted nodes/n1, believing that its heartbeat was of 0 ms, as it listed"
            " at rv 3; false since agent renewed it at rv 4."
        ),
    ),
    Told(
        polling,
        race="""
holds:
  - hold: user update notes/default/web#2
    until: operator get notes/default/web#2
""",
        actor="operator",
        made_so="user",
        about="notes/default/web",
        words=(r"data\.size", "size"),
        never=("^user",),
        said=(
            "operator updated notes/default/web, believing that its data.size was 2, as it "
            "read at rv 3; false since user set it to 3 at rv 4."
        ),
    ),
    Told(
        workers,
        race="""
faults:
  - stall: ann
    after: ann create leases/default/workers
    by: 20s
""",
        actor="ann",
        made_so="ben",
        about=("job-0", "leases/default/workers"),
        words=("holder", "stalled", "stall"),
        never=("shop", "^ben"),
        said=(
            "ann charged job-0, believing that it still held leases/default/workers: it had "
            "been stalled for 20 s, and ben had taken the lease and charged job-0 since."
        ),
    ),
    Told(
        children,
        race="""
holds:
  - hold: parents list pods
    until: parents create pods/default#2
""",
        actor="parents",
        about="pods/default/web-",
        did=("created",),
        words=("not knowing", "not heard", "never heard", "had not read", "did not know", "no pod",
               "was late", "not been told", "had not listed"),
        never=("^user", "user patched", "user created"),
        said=(
            "parents created pods/default/web-mlmff as a second child of "
            "configmaps/default/web, not knowing of the first, which it had created itself: "
            "its list of pods was late."
        ),
    ),
    Told(
        replicas,
        actor=("hpa", "operator"),
        about="deployments/default/web",
        words=("replicas",),
        said=(
            "hpa and operator undo each other's writes of spec.replicas of "
            "deployments/default/web for ever: hpa sets 5, operator sets 3."
        ),
    ),
    Told(
        cloud,
        race="""
faults:
  - lose_reply: provisioner launch nodes/a
""",
        actor="provisioner",
        about=("nodes/m-0", "nodes/m-1", "notes/default/a"),
        did=("again", "twice", "second", "repeated", r"m-0.*m-1", r"m-2.*m-0"),
        words=("no answer", "answer was lost", "lost", "had taken effect", "took effect"),
        said=(
            "provisioner launched a machine for notes/default/a again, nodes/m-1, since it "
            "got no answer to its first launch; that had taken effect and made nodes/m-0."
        ),
    ),
    Told(
        gangs,
        race="""
holds:
  - hold: blue get notes/default/east
    until: red get notes/default/west#2
""",
        actor=("blue", "red"),
        about=("notes/default/west", "notes/default/east", "west", "east"),
        did=("gang", "take", "gives? back"),
        words=("again and again", "undo", "answer each other", "for ever", "times", "each other"),
        said=(
            "blue and red each take what the other needs, and give it back, for ever: blue "
            "takes notes/default/west first, and red takes notes/default/east first."
        ),
    ),
    Told(
        nodes,
        actor=("provisioner", "scale-down"),
        about="nodes?",
        did=("create", "makes", "add", "delete", "remove", "taint"),
        words=("again", "undo", "each other", "for ever", "times"),
        said=(
            "scale-down deletes a node that nobody needs, and provisioner makes another, for "
            "ever: one keeps two nodes, the other three."
        ),
    ),
    Told(
        rollout,
        actor=("pipeline", "scaler"),
        about="deployments/default/web",
        words=("replicas",),
        claim="no_lasso",
        said=(
            "pipeline and scaler undo each other's writes of spec.replicas of "
            "deployments/default/web for ever: pipeline applies 3, scaler sets 5."
        ),
    ),
    Told(
        pressure,
        actor=("scheduler", "agent"),
        about="pods?",
        did=(r"scheduler'?s? (delet|remov|preempt|evict|makes room|made room)",),
        words=("again", "undo", "each other", "for ever", "times"),
        never=("^web", "^batch"),
        said=(
            "scheduler deletes a small pod for a large one, agent evicts that for its memory,"
            " and both pods are made again, for ever."
        ),
    ),
    Told(
        lock,
        race="""
holds:
  - hold: ann update notes/default/lock
    until: ben get notes/default/lock
""",
        actor=("ben", "ann"),
        about=("notes/default/lock", "notes/default/account"),
        words=("owner", r"data\.total"),
        never=("warden",),
        said=(
            "ben took notes/default/lock, believing that its data.owner was empty, as it read"
            " at rv 2; false since ann took it at rv 4; both then added to the same total."
        ),
    ),
    Told(
        descheduler,
        actor=("descheduler", "scheduler"),
        about="pods?",
        did=("evict", "delete", "remove", "bind", "bound"),
        words=("again", "undo", "each other", "for ever", "times"),
        never=("^owner",),
        said=(
            "descheduler evicts a pod from n1, and scheduler binds the one that replaces it "
            "to n1 again, for ever: one spreads, the other packs."
        ),
    ),
)  # fmt: skip

BY_NAME = {told.name: told for told in TWELVE}
ALSO = (
    BY_NAME["children"].also(
        "late",
        """
holds:
  - hold: delivery of pods/default/web-* to parents
    until: parents create pods/default#2
""",
        "parents created a second child, pods/default/web-mlmff, before its Cache showed its own "
        "create of pods/default/web-hfqnv: that news was late.",
        words=("not knowing", "not heard", "Cache", "believing", "late", "not been told"),
    ),
    BY_NAME["heartbeats"].also(
        "lag",
        """
faults:
  - lag: nodes to monitor
    at: 0s
    by: 40s
    for: 40s
""",
        "monitor tainted nodes/n1, believing that its heartbeat was of 0 ms, as it listed at rv 3; "
        "false since agent renewed it at rv 4, of which it was not told in time.",
    ),
    BY_NAME["cloud"].also(
        "slow",
        """
holds:
  - hold: provisioner launch nodes/a
    until: provisioner launch nodes/b
""",
        "provisioner launched a machine for notes/default/a again, nodes/m-2, since its first "
        "launch had timed out; that took effect late and made nodes/m-1.",
        did=("again", "twice", "second", "repeated", r"m-1.*m-2", r"m-2.*m-1"),
        words=("timed out", "no answer", "late", "took effect"),
        about=("nodes/m-0", "nodes/m-1", "nodes/m-2", "notes/default/a"),
    ),
    BY_NAME["workers"].also(
        "cut-off",
        """
faults:
  - partition: ann
    after: ann create leases/default/workers
    for: 20s
""",
        "ann charged job-0, believing that it still held leases/default/workers: it had been cut "
        "off for 20 s, and ben had taken the lease and charged job-0 since.",
        actor=("ann", "ben"),
        words=("holder", "cut off", "partition"),
        never=("shop",),
    ),
    BY_NAME["lock"].also(
        "other",
        """
holds:
  - hold: ann update notes/default/lock
    until: ben update notes/default/lock
""",
        "ann took notes/default/lock, believing that its data.owner was empty, as it read at rv 2; "
        "false since ben took it at rv 4; both then added to the same total.",
    ),
)
