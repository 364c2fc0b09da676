"""Discovery: what an API server says of itself: its version, its health, its groups and kinds.

kubectl asks for this before anything else, to learn what `po` is; controllers ask whether a kind is
there. Newer clients ask for all groups at once (*aggregated*), older ones for each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from testbed.attended.http.accept import Accepted, form_asked
from testbed.attended.http.catalogue import CATALOGUE, Resource, Subresource
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reply import Reply

Tree = dict[str, Any]
VERSION = {
    "major": "1", "minor": "26", "gitVersion": "v1.26.15+testbed", "gitCommit": "",
    "gitTreeState": "clean", "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "",
    "platform": "",
}  # fmt: skip
"""The version of Kubernetes whose behaviour this is. Clients read it as one of Go's."""
HEALTH = ("/healthz", "/livez", "/readyz")
AGGREGATED, APIDISCOVERY = "APIGroupDiscoveryList", "apidiscovery.k8s.io"
BY_API_VERSION = {
    version: tuple(found) for version, found in groupby(CATALOGUE, lambda each: each.api_version)
}
"""All resources by API group and version, the core group first."""


def discovered(request: HttpRequest) -> Reply | None:
    """The answer to a question about the API server itself; None if the request is none."""
    path = request.path.rstrip("/")
    if request.method != "GET":
        return None
    if path in HEALTH:
        return Reply(200, b"ok", "text/plain; charset=utf-8")
    if path == "/version":
        return Reply.saying(VERSION)
    if path in ("/api", "/apis"):
        asked = form_asked(request, AGGREGATED, APIDISCOVERY, ("v2", "v2beta1"))
        return _plain(path) if asked is None else _aggregated(path, asked)
    group, version = _named(path)
    if f"{group}/{version}".strip("/") in BY_API_VERSION:
        return Reply.saying(_resource_list(f"{group}/{version}".strip("/")))
    if group and not version and group in _groups():
        return Reply.saying({"kind": "APIGroup", "apiVersion": "v1", **_group(group)})
    return None


def _named(path: str) -> tuple[str, str]:
    """The API group and the version that a path names: of `/api/v1` none and `v1`."""
    match path.split("/"):
        case ["", "api", version]:
            return "", version
        case ["", "apis", group]:
            return group, ""
        case ["", "apis", group, version]:
            return group, version
    return "", ""


def _groups() -> dict[str, list[str]]:
    """The versions of each named API group."""
    found: dict[str, list[str]] = {}
    for api_version in BY_API_VERSION:
        group, _, version = api_version.rpartition("/")
        if group:
            found.setdefault(group, []).append(version)
    return found


def _plain(path: str) -> Reply:
    if path == "/api":
        here = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]
        return Reply.saying(
            {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": here}
        )
    groups = [_group(name) for name in _groups()]
    return Reply.saying({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})


def _group(name: str) -> Tree:
    versions = [{"groupVersion": f"{name}/{each}", "version": each} for each in _groups()[name]]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _resource_list(api_version: str) -> Tree:
    trees = []
    for each in BY_API_VERSION[api_version]:
        trees.append(_resource(each))
        trees += [_subresource(each, part) for part in each.subresources]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": api_version,
        "resources": trees,
    }


def _resource(resource: Resource) -> Tree:
    return {
        "name": resource.plural,
        "singularName": resource.kind.lower(),
        "namespaced": resource.is_namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
        **_nicknames(resource),
    }


def _subresource(resource: Resource, part: Subresource) -> Tree:
    """A part in the old form; it names its own group and version if they are others."""
    group, _, version = part.api_version.rpartition("/")
    elsewhere = {"group": group, "version": version}
    return {
        "name": f"{resource.plural}/{part.name}",
        "singularName": "",
        "namespaced": resource.is_namespaced,
        "kind": part.kind,
        "verbs": part.verbs,
        **(elsewhere if part.api_version != resource.api_version else {}),
    }


def _nicknames(resource: Resource) -> Tree:
    names = {"shortNames": [resource.short_name]} if resource.short_name else {}
    return {**names, "categories": ["all"]} if resource.is_of_all else names


def _aggregated(path: str, asked: Accepted) -> Reply:
    names = [""] if path == "/api" else list(_groups())
    tree = {
        "kind": AGGREGATED,
        "apiVersion": f"{APIDISCOVERY}/{asked.version}",
        "metadata": {},
        "items": [_aggregated_group(name) for name in names],
    }
    return Reply.saying(tree, content_type=asked.content_type)


def _aggregated_group(name: str) -> Tree:
    versions = []
    for api_version, resources in BY_API_VERSION.items():
        group, _, version = api_version.rpartition("/")
        if group == name:
            trees = [_aggregated_resource(each) for each in resources]
            versions.append({"version": version, "resources": trees, "freshness": "Current"})
    return {"metadata": {"name": name} if name else {}, "versions": versions}


def _aggregated_resource(resource: Resource) -> Tree:
    parts: Sequence[Tree] = [
        {
            "subresource": part.name,
            "responseKind": _kind(part.api_version, part.kind),
            "verbs": part.verbs,
        }
        for part in resource.subresources
    ]
    return {
        "resource": resource.plural,
        "responseKind": _kind(resource.api_version, resource.kind),
        "scope": "Namespaced" if resource.is_namespaced else "Cluster",
        "singularResource": resource.kind.lower(),
        "verbs": resource.verbs,
        **_nicknames(resource),
        **({"subresources": parts} if parts else {}),
    }


def _kind(api_version: str, kind: str) -> Tree:
    group, _, version = api_version.rpartition("/")
    return {"group": group, "version": version, "kind": kind}
