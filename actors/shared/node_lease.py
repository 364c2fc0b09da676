"""The Lease of a node, and what it means without a renewal (KUB-41).

A kubelet renews the Lease of its node every ten seconds. With thousands of nodes these writes are
nearly all that a cluster does, and they say nothing new. So there is another way (the switch
`kubelet.heartbeat=on_change`), in which a healthy node costs no write and no timer:

1. Each life of a kubelet writes the Lease once, with the annotation `implied`: its own name.
2. Who reads a Lease with that annotation takes it for renewed just now (`renewed_ms_of`).
3. One actor for all nodes, a Pulse, looks every ten seconds which of these kubelets are down or cut
   off. Of such a one it makes the annotation `lapsed`, with the time of that look as the last
   renewal. From then on the Lease is judged like any other: it grows old.
4. When that kubelet is there again, its Lease becomes `implied` again: by its next life, by step 1,
   or by the Pulse, if it was cut off.

So a dead node is noticed as with real heartbeats: its last renewal is ten seconds off at most.
"""

from __future__ import annotations

from testbed.objects import Lease

NAMESPACE = "kube-node-lease"
LEASE_S, RENEW_MS = 40, 10_000
"""For how long the Lease of a node holds, and how often it is renewed."""
IMPLIED, LAPSED = "heartbeat.testbed/implied", "heartbeat.testbed/lapsed"
"""The annotations; their value is the name of the kubelet."""


def is_implied(lease: Lease) -> bool:
    """Whether the Lease counts as renewed without being written."""
    return IMPLIED in lease.meta.annotations


def renewed_ms_of(lease: Lease, now_ms: int) -> int | None:
    """When the Lease was last renewed, as who judges a node has to see it; None: never."""
    return now_ms if is_implied(lease) else lease.spec.renewed_ms
