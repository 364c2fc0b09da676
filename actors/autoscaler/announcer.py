"""Announcer: what the autoscaler says in Events about pods, nodes and itself."""

from __future__ import annotations

from actors.shared.recorder import Recorder
from testbed import Client
from testbed.objects import ConfigMap, Meta, Object
from testbed.objects.event import NORMAL, WARNING

COMPONENT = "cluster-autoscaler"
STATUS = ConfigMap(Meta("cluster-autoscaler-status", "kube-system"))
"""The object of Events about the whole cluster."""


class Announcer:
    """Writes the Events of one life, unless they are switched off."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._is_on = client.switches.events
        self._recorder = Recorder(client, COMPONENT)

    def note(self, item: Object, reason: str, message: str, kind: str = NORMAL) -> None:
        """Write an Event about an object."""
        if self._is_on:
            self._recorder.note(item, reason, message, kind)

    def say(self, reason: str, message: str) -> None:
        """Write an Event about what is done to the cluster."""
        self.note(STATUS, reason, message)

    def warn(self, reason: str, message: str) -> None:
        """Write a warning about the cluster, into the trace as well."""
        self._client.record("warns", said=f"warned: {message}", reason=reason)
        self.note(STATUS, reason, message, WARNING)
