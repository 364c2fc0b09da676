"""Unmodelled kinds: those that clients list and watch, and of which there is never an object here.

A scheduler waits for its lists of volumes before it binds a first pod, and `kubectl describe`
looks for what stands beside an object. A list of such a kind is empty, and a watch of it silent.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Unmodelled:
    """A kind that can be listed and watched, and has no objects."""

    api_version: str
    """Its API group and version: `storage.k8s.io/v1`."""
    plural: str
    """As a URL names it: `storageclasses`."""
    kind: str
    """As a manifest names it: `StorageClass`. That of a list of them has `List` behind it."""
    is_namespaced: bool = True
    """Whether its objects would be in namespaces."""
    short_name: str = ""
    """What `kubectl get` calls it for short; empty: nothing."""
    is_of_all: bool = False
    """Whether `kubectl get all` lists it."""


UNMODELLED: tuple[Unmodelled, ...] = (
    Unmodelled("v1", "endpoints", "Endpoints", short_name="ep"),
    Unmodelled("v1", "limitranges", "LimitRange", short_name="limits"),
    Unmodelled("v1", "persistentvolumeclaims", "PersistentVolumeClaim", short_name="pvc"),
    Unmodelled("v1", "persistentvolumes", "PersistentVolume", False, short_name="pv"),
    Unmodelled("v1", "podtemplates", "PodTemplate"),
    Unmodelled("v1", "secrets", "Secret"),
    Unmodelled("v1", "serviceaccounts", "ServiceAccount", short_name="sa"),
    Unmodelled("v1", "services", "Service", short_name="svc", is_of_all=True),
    Unmodelled("apps/v1", "controllerrevisions", "ControllerRevision"),
    Unmodelled("autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler",
               short_name="hpa", is_of_all=True),
    Unmodelled("batch/v1", "cronjobs", "CronJob", short_name="cj", is_of_all=True),
    Unmodelled("discovery.k8s.io/v1", "endpointslices", "EndpointSlice"),
    Unmodelled("networking.k8s.io/v1", "ingresses", "Ingress", short_name="ing"),
    Unmodelled("networking.k8s.io/v1", "networkpolicies", "NetworkPolicy", short_name="netpol"),
    Unmodelled("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", False),
    Unmodelled("storage.k8s.io/v1", "csidrivers", "CSIDriver", False),
    Unmodelled("storage.k8s.io/v1", "csinodes", "CSINode", False),
    Unmodelled("storage.k8s.io/v1", "csistoragecapacities", "CSIStorageCapacity"),
    Unmodelled("storage.k8s.io/v1", "storageclasses", "StorageClass", False, short_name="sc"),
    Unmodelled("storage.k8s.io/v1", "volumeattachments", "VolumeAttachment", False),
)  # fmt: skip
"""All of them: the core group first, then by group and plural."""
_BY_NAME = {(each.api_version, each.plural): each for each in UNMODELLED}


def unmodelled_of(api_version: str, plural: str) -> Unmodelled | None:
    """The kind that a URL names by its group, version and plural, if it is one of these."""
    return _BY_NAME.get((api_version, plural))
