"""Switches: how an API server behaves where versions of Kubernetes differ, and the profiles."""

from __future__ import annotations

from collections.abc import Mapping

from testbed.errors import UnknownName

SWITCHES: dict[str, tuple[str, ...]] = {
    "clear_nnn_on_bind": ("off", "on"),
    "client_priority": ("must_equal", "reject_any"),
    "system_class_scope": ("any", "kube_system_only", "authz"),
}
"""What each may be; first, what it is in 1.26."""
DEFAULT = "k8s-1.26"
PROFILES: dict[str, dict[str, str]] = {
    "alpha": {"client_priority": "reject_any"},
    "seed": {"client_priority": "reject_any", "system_class_scope": "authz"},
    DEFAULT: {},
    "k8s-modern": {"clear_nnn_on_bind": "on"},
}
"""Bundles of switches, where they are not as in 1.26 (GEN-1)."""


def settings_of(profile: str, given: Mapping[str, str]) -> dict[str, str]:
    """Every switch, as a profile has it or as is given besides; UnknownName."""
    if profile not in PROFILES:
        raise UnknownName("profile", profile, PROFILES)
    for name, value in given.items():
        if name not in SWITCHES:
            raise UnknownName("switch of an API server", name, SWITCHES)
        if value not in SWITCHES[name]:
            raise UnknownName(f"value of {name}", value, SWITCHES[name])
    usual = {name: values[0] for name, values in SWITCHES.items()}
    return {**usual, **PROFILES[profile], **given}
