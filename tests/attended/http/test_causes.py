"""Causes: an Invalid names each field that is wrong, since kubectl shows nothing else of it."""

from __future__ import annotations

import attrs
import pytest

from testbed.attended.http.answers import status_of
from testbed.attended.http.causes import causes_in
from testbed.attended.http.exchange import HttpRequest
from testbed.attended.http.meaning import meaning_of
from testbed.attended.http.place import place_of
from testbed.errors import Invalid, NotFound
from tests.each_row import each_row

WEB = "/apis/apps/v1/namespaces/shop/deployments/web"


def test_an_invalid_names_each_field_that_is_wrong() -> None:
    """Also the object that was to be made, which the URL of a create does not name."""
    said = '[spec.a: Required value, spec.b[0]: Invalid value: "x, y": no]'
    error = Invalid(f'Deployment.apps "web" is invalid: {said}')
    details = status_of(error, attrs.evolve(place_of(WEB), name=""))["details"]
    assert details["name"] == "web"
    assert details["causes"] == [
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.a"},
        {"reason": "FieldValueInvalid", "message": 'Invalid value: "x, y": no',
         "field": "spec.b[0]"},
    ]  # fmt: skip


def test_what_names_no_field_has_no_cause_of_one() -> None:
    """A sentence alone is one; a message about no object has none."""
    assert causes_in('Pod "p" is invalid: strange') == [{"message": "strange"}]
    assert causes_in("the server rejected our request") == []


@each_row("part", ["exec", "log", "scale"])
def test_a_part_that_is_not_there_is_not_taken_for_the_object(part: str) -> None:
    """Not found, whatever is done to it."""
    with pytest.raises(NotFound):
        meaning_of(HttpRequest("POST", f"/api/v1/namespaces/shop/pods/p/{part}"))
