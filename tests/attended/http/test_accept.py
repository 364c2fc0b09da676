"""The forms of an answer that programs ask for, as their Accept headers say it."""

from __future__ import annotations

from testbed.attended.http.accept import META, TABLE, form_asked
from testbed.attended.http.exchange import HttpRequest
from tests.each_row import each_row

FORM = "application/json;as=Table;v={};g=meta.k8s.io"
GET = f"{FORM.format('v1')},{FORM.format('v1beta1')},application/json"
PROTOBUF_FIRST = "application/vnd.kubernetes.protobuf, application/json;as=Table;v=v1;g=meta.k8s.io"


@each_row(
    ("header", "content_type"),
    [
        (GET, "application/json;g=meta.k8s.io;v=v1;as=Table"),
        (PROTOBUF_FIRST, "application/json;g=meta.k8s.io;v=v1;as=Table"),
        ("application/json; g=meta.k8s.io; v=v1; as=Table", GET.split(",")[0]),
        ("application/json,application/json;as=Table;v=v1;g=meta.k8s.io", None),
        ("application/json;as=Table;v=v1beta1;g=meta.k8s.io", None),
        ("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io", None),
        ("*/*", None),
        ("", None),
    ],
)
def test_a_table_is_asked_for_before_a_plain_object_or_not_at_all(
    header: str, content_type: str | None
) -> None:
    """Only in JSON, only in v1, and only if it stands first; spaces make no difference."""
    asked = form_asked(HttpRequest("GET", "/api/v1/pods", headers={"accept": header}), TABLE, META)
    found = None if asked is None else asked.content_type
    assert (found and sorted(found.split(";"))) == (
        content_type and sorted(content_type.split(";"))
    )
