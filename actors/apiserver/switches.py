"""Switches: how an API server behaves where versions of Kubernetes differ, and the profiles."""

from __future__ import annotations

import attrs

from testbed.switches import Component, on_off, one_of


@attrs.frozen
class ApiServerSwitches:
    """Every one of them, as it is in 1.26 unless said otherwise (GEN-2)."""

    clear_nnn_on_bind: bool = on_off(False)
    """Whether a pod that is bound loses its nomination."""
    client_priority: str = one_of("must_equal", "reject_any")
    """Whether a number that comes with a new pod has to be its class's, or may not come at all."""
    system_class_scope: str = one_of("any", "kube_system_only", "authz")
    """Who may name a system class: anybody, pods in kube-system, or who was authorized."""


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
"""With its bundles of switches, where they are not as in 1.26 (GEN-1)."""
