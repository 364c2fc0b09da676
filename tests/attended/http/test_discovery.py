"""What the server says of itself: groups, kinds and verbs, in the old form and in the new."""

from __future__ import annotations

from typing import Any

import attrs

from testbed.attended.http.catalogue import CATALOGUE, ELSEWHERE
from testbed.attended.http.discovery import discovered
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reply import Reply
from testbed.attended.http.unmodelled import UNMODELLED, unmodelled_of
from testbed.objects.codec import decode
from testbed.objects.kinds import KINDS
from tests.each_row import each_row

Tree = dict[str, Any]
NEW = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"
BOTH = f"{NEW.format('v2')},{NEW.format('v2beta1')},application/json"


def answer(path: str, accept: str = "application/json") -> Reply:
    """The answer to a GET of that path, which must be one of discovery's."""
    reply = discovered(HttpRequest("GET", path, headers={"accept": accept}))
    assert reply is not None
    return reply


def tree(path: str, accept: str = "application/json") -> Tree:
    """The same as a tree."""
    found: Tree = decode(answer(path, accept).body)
    return found


def old_form() -> dict[str, Tree]:
    """Every resource and part of one, as a client of Kubernetes 1.20 finds them."""
    versions = [f"/api/{each}" for each in tree("/api")["versions"]]
    for group in tree("/apis")["groups"]:
        assert tree(f"/apis/{group['name']}") == {"kind": "APIGroup", "apiVersion": "v1", **group}
        versions += [f"/apis/{each['groupVersion']}" for each in group["versions"]]
    found = {}
    for path in versions:
        listed = tree(path)
        for each in listed["resources"]:
            found[f"{listed['groupVersion']} {each['name']}"] = each
    return found


def test_each_kind_is_listed_with_what_may_be_asked_of_it() -> None:
    """All that the Store knows is read and written; what is not modelled is only read."""
    found = old_form()
    for cls in KINDS:
        if cls not in ELSEWHERE:
            each = found[f"{cls.api_version} {cls.plural}"]
            assert (each["kind"], each["namespaced"]) == (cls.kind, cls.is_namespaced)
            assert "create" in each["verbs"]
            has_status = f"{cls.api_version} {cls.plural}/status" in found
            assert has_status == ("status" in attrs.fields_dict(cls))
    for other in UNMODELLED:
        assert found[f"{other.api_version} {other.plural}"]["verbs"] == ["get", "list", "watch"]
        assert unmodelled_of(other.api_version, other.plural) is other
    assert not any("notes" in name for name in found)


@each_row(
    ("name", "what"),
    [
        ("v1 pods", {"shortNames": ["po"], "categories": ["all"], "singularName": "pod"}),
        ("v1 pods/eviction", {"group": "policy", "version": "v1", "kind": "Eviction"}),
        ("v1 pods/binding", {"kind": "Binding", "verbs": ["create"]}),
        ("v1 nodes", {"namespaced": False, "shortNames": ["no"]}),
        ("events.k8s.io/v1 events", {"kind": "Event"}),
        ("apps/v1 deployments/status", {"verbs": ["get", "patch", "update"]}),
        ("storage.k8s.io/v1 csinodes", {"kind": "CSINode", "namespaced": False}),
    ],
)
def test_clients_find_what_they_look_for(name: str, what: Tree) -> None:
    """So does `kubectl drain` for the group of evictions, a scheduler for the newer Events."""
    assert what.items() <= old_form()[name].items()


def test_the_aggregated_form_says_the_same_as_the_old_one() -> None:
    """Whichever form a client asks for, it finds the same resources, parts, kinds and verbs."""
    found = {}
    for path in ("/api", "/apis"):
        for group in tree(path, BOTH)["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                here = f"{name}/{version['version']}".strip("/")
                for each in version["resources"]:
                    found[f"{here} {each['resource']}"] = (each["responseKind"], each["verbs"])
                    for part in each.get("subresources", ()):
                        key = f"{here} {each['resource']}/{part['subresource']}"
                        found[key] = (part["responseKind"], part["verbs"])
    old = old_form()
    assert sorted(found) == sorted(old)
    for name, (kind, verbs) in found.items():
        api_version = name.split()[0]
        group, _, number = api_version.rpartition("/")
        own = {"group": old[name].get("group", group), "version": old[name].get("version", number)}
        assert (kind, verbs) == ({**own, "kind": old[name]["kind"]}, old[name]["verbs"])


@each_row(
    ("accept", "version"),
    [(BOTH, "v2"), (f"{NEW.format('v2beta1')},application/json", "v2beta1")],
)
def test_the_aggregated_form_comes_in_the_version_asked_for(accept: str, version: str) -> None:
    """A client looks at the Content-Type to know which form it has got."""
    reply = answer("/apis", accept)
    assert sorted(reply.content_type.split(";")) == sorted(NEW.format(version).split(";"))
    assert decode(reply.body)["apiVersion"] == f"apidiscovery.k8s.io/{version}"


@each_row(
    "path",
    ["/api/v2", "/apis/apps/v2", "/apis/nowhere", "/apis/nowhere/v1", "/", "/api/v1/pods"],
)
def test_what_is_not_there_is_not_discovery(path: str) -> None:
    """An unknown group is another's 404, and a list of pods is no discovery; nor is a POST."""
    assert discovered(HttpRequest("GET", path)) is None
    assert discovered(HttpRequest("POST", "/apis")) is None


def test_it_is_well_and_says_its_version() -> None:
    """As Kubernetes 1.26, which is what is modelled."""
    assert [answer(path).body for path in ("/healthz", "/livez", "/readyz")] == [b"ok"] * 3
    said = tree("/version/")
    assert (said["major"], said["minor"], said["gitVersion"][:8]) == ("1", "26", "v1.26.15")


def test_no_resource_is_listed_twice() -> None:
    """A kind that becomes modelled must leave the list of those that are not."""
    names = [(each.api_version, each.plural) for each in CATALOGUE]
    assert len(names) == len(set(names))
