"""Bodies: what a request brings along, as a tree, and as the object that its URL names.

A program may send anything. What cannot be read is refused in the words of Kubernetes.
"""

from __future__ import annotations

from typing import Any, TypeVar

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.place import Place, is_of_events_group
from testbed.attended.http.reply import JSON
from testbed.errors import BadRequest, UnsupportedMedia
from testbed.objects.codec import decode, encode
from testbed.objects.event import NAMES, from_group
from testbed.objects.form import from_tree
from testbed.objects.manifests.yaml_stream import DocumentReader, parts
from testbed.objects.meta import Object
from testbed.objects.plain import Misfit, frozen, shown

T = TypeVar("T")
YAMLS = ("application/yaml", "application/x-yaml", "text/yaml", "application/apply-patch+yaml")
PROTOBUF = "application/vnd.kubernetes.protobuf"
HOWS = {
    "application/json-patch+json": "json",
    "application/merge-patch+json": "merge",
    "application/strategic-merge-patch+json": "strategic",
    "application/apply-patch+yaml": "apply",
}
"""By content type, how a patch is applied."""
NO_PROTOBUF = (
    "this testbed reads no protobuf: let the program send JSON, with `contentType: "
    "application/json` under `clientConnection` in its configuration file, "
    "`--kube-api-content-type=application/json` on its command line, or `ContentType` in its "
    "rest.Config; of kubectl: `kubectl create … --dry-run=client -o yaml | kubectl create -f -`"
)
SHOWN = 30
"""How many bytes of a body an error shows."""


def media_of(request: HttpRequest) -> str:
    """The content type of the body without its parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def how_of(request: HttpRequest) -> str:
    """How the patch is to be applied; UnsupportedMedia if its content type says of no way."""
    media = media_of(request)
    if media in HOWS:
        return HOWS[media]
    if media == PROTOBUF:
        raise UnsupportedMedia(NO_PROTOBUF)
    raise _unknown(tuple(HOWS))


def object_tree(request: HttpRequest, wanted: str) -> Any:
    """The tree of a body that is no patch; `wanted` is the kind that it should be of."""
    media = media_of(request)
    if media == PROTOBUF:
        raise UnsupportedMedia(NO_PROTOBUF)
    if media not in ("", JSON, *YAMLS[:3]):
        raise _unknown((JSON, YAMLS[0]))
    return tree_of(request, wanted)


def tree_of(request: HttpRequest, wanted: str) -> Any:
    """The tree of any body, its names sorted; BadRequest if it is neither JSON nor, where its type
    says so, YAML."""
    # The same request must mean the same Operation when it is read back from a line, and a line has
    # its names sorted.
    try:
        is_yaml = media_of(request) in YAMLS
        return _sorted(_from_yaml(request.body) if is_yaml else decode(request.body))
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        start = request.body[:SHOWN].decode("utf-8", "replace") or "<empty>"
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {wanted}): couldn't get "
            f"version/kind; json parse error: {error} ({start})"
        ) from error


def _sorted(tree: Any) -> Any:
    return decode(encode(tree))


def _from_yaml(text: bytes) -> Any:
    """The one document of a text; ValueError."""
    reader = DocumentReader()
    trees = [tree for part in parts(text) for tree in reader.trees(part) if tree is not None]
    if len(trees) != 1:
        raise ValueError(f"expected one document, found {len(trees)}")
    return trees[0]


def _unknown(accepted: tuple[str, ...]) -> UnsupportedMedia:
    return UnsupportedMedia(
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )


def object_of(request: HttpRequest, place: Place) -> Object:
    """The object of the body, of the kind that the URL names, in the namespace that it names."""
    resource = place.resource
    tree = object_tree(request, resource.kind)
    assert place.cls is not None
    tree = _of_kind(tree, resource.kind, (resource.api_version,))
    if is_of_events_group(resource):
        tree = _sorted(from_group(tree))
    return read_as(place.cls, _placed(tree, place.namespace), resource.kind, resource.version)


def part_of(
    request: HttpRequest, place: Place, cls: type[Object], versions: tuple[str, ...]
) -> Any:
    """The Binding or the Eviction of the body, with the namespace of the URL."""
    tree = _of_kind(object_tree(request, cls.kind), cls.kind, versions)
    item = read_as(cls, _placed(tree, place.namespace), cls.kind, versions[0].rpartition("/")[2])
    if item.meta.namespace != place.namespace:
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    return item


def read_as(cls: type[T], tree: Any, kind: str, version: str) -> T:
    """The value of a tree; BadRequest in the words of Kubernetes if it is not of that class."""
    try:
        return from_tree(cls, tree)
    except Misfit as misfit:
        raise BadRequest(
            f'{kind} in version "{version}" cannot be handled as a {kind}: {misfit}'
        ) from misfit


def patch_of(request: HttpRequest, place: Place) -> Any:
    """The frozen tree of a patch, its fields named as the class of the place has them."""
    how, is_renamed = how_of(request), is_of_events_group(place.resource)
    tree = tree_of(request, place.resource.kind)
    try:
        if how == "json":
            return frozen(_of_core(tree) if is_renamed else tree, nulls=True)
        if not isinstance(tree, dict):
            raise BadRequest(f"cannot read the patch of {place}: expected a mapping")
        if is_renamed:
            renamed = from_group(tree)
            tree = _sorted({name: renamed[name] for name in renamed if name != "apiVersion"})
        return frozen(tree, nulls=True)
    except Misfit as misfit:
        raise BadRequest(f"cannot read the patch of {place}: {misfit}") from misfit


def _of_core(steps: Any) -> Any:
    """A JSON patch of an Event of the newer group, for one of the core group."""
    if not isinstance(steps, list):
        return steps
    return [_renamed(step) if isinstance(step, dict) else step for step in steps]


def _renamed(step: dict[str, Any]) -> dict[str, Any]:
    """One step of a JSON patch, with the core group's name of the field that it begins at."""
    renamed = dict(step)
    for field in ("path", "from"):
        if isinstance(step.get(field), str):
            start, slash, rest = step[field].partition("/")
            name, dash, below = rest.partition("/")
            renamed[field] = f"{start}{slash}{NAMES.get(name, name)}{dash}{below}"
    return renamed


def _of_kind(tree: Any, kind: str, versions: tuple[str, ...]) -> dict[str, Any]:
    """The tree, if it is a mapping that says of no other kind or version; BadRequest."""
    if not isinstance(tree, dict):
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {kind}): couldn't get "
            f"version/kind; json parse error: expected a mapping"
        )
    found, version = tree.get("kind") or kind, tree.get("apiVersion") or versions[0]
    if not isinstance(found, str) or not isinstance(version, str):
        raise BadRequest(f"couldn't get version/kind; json parse error: {shown(found)} is no text")
    if found != kind:
        short = version.rpartition("/")[2]
        raise BadRequest(f'{found} in version "{short}" cannot be handled as a {kind}')
    if version not in versions:
        raise BadRequest(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({versions[0]})"
        )
    return tree


def _placed(tree: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The tree with the namespace of the URL, if it says of none or if its kind is in none."""
    meta = tree.get("metadata", {})
    if not isinstance(meta, dict) or (namespace and meta.get("namespace")):
        return tree
    return {**tree, "metadata": {**meta, "namespace": namespace}}
