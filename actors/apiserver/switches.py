"""Switches of the API server: what differs between versions of Kubernetes, and the profiles."""

from __future__ import annotations

import attrs

from testbed.switches import Component, on_off, one_of


@attrs.frozen
class ApiServerSwitches:
    """All of them; the first value of each is that of 1.26 (GEN-2)."""

    clear_nnn_on_bind: bool = on_off(False)
    """Whether a bind clears the `nominatedNodeName` of the pod."""
    bind_checks_room: bool = on_off(False)
    """An experiment: whether a bind is refused if the node has not enough for the pod beside those
    that are bound to it. In Kubernetes a bind looks at the pod alone, and its kubelet is the last
    check."""
    client_priority: str = one_of("must_equal", "reject_any")
    """Whether a new pod may say its priority as a number: only that of its class, or none."""
    default_tolerations: bool = on_off(True)
    """Whether every new pod tolerates for five minutes that its node is absent, and, if it requests
    anything, memory pressure."""
    system_class_scope: str = one_of("any", "kube_system_only", "authz")
    """Who may name a system class: any pod, pods in kube-system, or actors that are authorized."""


APISERVER = Component(
    "apiserver",
    ApiServerSwitches,
    {
        "alpha": {"client_priority": "reject_any"},
        "seed": {"client_priority": "reject_any", "system_class_scope": "authz"},
        "k8s-1.26": {},
        "k8s-modern": {"clear_nnn_on_bind": "on"},
    },
)
"""With its profiles, and the switches in them that are not as in 1.26 (GEN-1)."""
