"""Accept: which forms of an answer a program takes, the one that it likes best first."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.reply import JSON

META = "meta.k8s.io"
"""The API group of the forms that any object can be turned into."""
TABLE = "Table"
"""What kubectl's `get` asks for: rows and columns, as it prints them."""
PARTIAL, PARTIAL_LIST = "PartialObjectMetadata", "PartialObjectMetadataList"
"""What clients ask for that look at metadata only."""


@attrs.frozen
class Accepted:
    """One form of an answer that a program takes."""

    media: str
    """`application/json`, `application/vnd.kubernetes.protobuf`, `*/*`."""
    form: str = ""
    """What the object is to be turned into: `Table`; empty: nothing."""
    group: str = ""
    """The API group of that form: `meta.k8s.io`."""
    version: str = ""
    """The version of that form: `v1`."""

    @property
    def content_type(self) -> str:
        """What an answer in this form says of itself."""
        parts = (("g", self.group), ("v", self.version), ("as", self.form))
        return ";".join((self.media, *(f"{name}={value}" for name, value in parts if value)))


def accepted(request: HttpRequest) -> tuple[Accepted, ...]:
    """All forms that its Accept header names, in order. Weights are left aside: clients of
    Kubernetes send none, and write what they like best first."""
    header = request.headers.get("accept", "")
    return tuple(_read(part) for part in header.split(",") if part.strip())


def form_asked(
    request: HttpRequest, form: str, group: str = META, versions: Sequence[str] = ("v1",)
) -> Accepted | None:
    """That form of an answer, in the version that the program likes best of these, in JSON; None if
    it does not ask for one, or likes a plain object better."""
    for each in accepted(request):
        if each.media == JSON and not each.form:
            return None
        is_that = each.form == form and each.group == group and each.version in versions
        if each.media == JSON and is_that:
            return each
    return None


def _read(part: str) -> Accepted:
    media, *parameters = (each.strip() for each in part.split(";"))
    given = dict(each.partition("=")[::2] for each in parameters)
    return Accepted(media.lower(), given.get("as", ""), given.get("g", ""), given.get("v", ""))
