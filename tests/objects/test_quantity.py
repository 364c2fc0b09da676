"""Quantities: read and printed as Kubernetes does, exact, and counted as a scheduler counts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testbed.objects.quantity import (
    BINARY,
    DECIMAL,
    EXPONENT,
    LARGEST,
    NANO,
    Quantity,
    counted,
)
from tests.each_row import each_row

OFTEN = settings(max_examples=150, derandomize=True, deadline=None)
SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]


@each_row(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0Ki", "0"),
        ("0e9", "0"),
        ("1", "1"),
        ("+1", "1"),
        ("007", "7"),
        ("1.", "1"),
        (".5", "500m"),
        ("0.5", "500m"),
        ("1.5", "1500m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("100m", "100m"),
        ("1000", "1k"),
        ("1000k", "1M"),
        ("1500", "1500"),
        ("123456", "123456"),
        ("1E", "1E"),
        ("1000E", "1e21"),
        ("1024", "1024"),
        ("1024Ki", "1Mi"),
        ("1024Mi", "1Gi"),
        ("1025Ki", "1025Ki"),
        ("0.5Mi", "512Ki"),
        ("1.5Gi", "1536Mi"),
        ("1.5Ki", "1536"),
        ("0.5Ki", "512"),
        ("0.3Ki", "307200m"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("1e4", "10e3"),
        ("1e-3", "1e-3"),
        ("1e-4", "100e-6"),
        ("5e0", "5"),
        ("12e+6", "12e6"),
        ("-1.5", "-1500m"),
        ("-1024Mi", "-1Gi"),
        ("1n", "1n"),
        ("1000n", "1u"),
        ("1000000u", "1"),
    ],
)
def test_it_prints_in_its_canonical_form(text: str, canonical: str) -> None:
    """No fraction, the largest suffix that leaves none, and of the family it was written in."""
    assert str(Quantity.parse(text)) == canonical


@each_row(
    ("text", "amount"),
    [
        ("8Ei", LARGEST),
        ("9999999Ei", LARGEST),
        ("-8Ei", -LARGEST),
        ("7Ei", 7 * 2**60),
        ("9E", 9 * 10**18),
        ("10E", 10**19),
        ("1e99", 10**99),
    ],
)
def test_binary_amounts_are_capped_and_decimal_ones_are_not(text: str, amount: int) -> None:
    """At what 64 bits hold; it is the one family in which Kubernetes caps what it reads."""
    assert Quantity.parse(text).nano == amount * NANO


@each_row(
    "text",
    [
        *("", " ", "m", ".", "-", "1e", "1K", "1mi", "1ki", "1 Gi", " 1", "1\n", "1,5", "0x10"),
        *("1.2.3", "--1", "1e3.5", "1e3m", "1Kim", "inf", "nan", "١", "1" * 100, "1e9999"),
        *(True, False, float("inf"), float("nan")),
    ],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    """And the refusal shows some."""
    with pytest.raises(ValueError, match="an amount such as 500m, 1Gi or 2"):
        Quantity.parse(text)


written = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**21) | st.sampled_from([0, 1, 512, 1000, 1024, 1536, 2**20, 2**63]),
    st.sampled_from(["", ".", ".0", ".5", ".25", ".001", ".000000001", ".0000000001"]),
    st.sampled_from(SUFFIXES) | st.integers(-12, 30).map("e{}".format),
)


@OFTEN
@given(written)
def test_what_is_printed_is_read_as_the_same(text: str) -> None:
    """So an object that is stored and read again is equal to what was stored."""
    one = Quantity.parse(text)
    assert Quantity.parse(str(one)) == one


@OFTEN
@given(st.integers(-(10**35), 10**35), st.sampled_from([DECIMAL, BINARY, EXPONENT]))
def test_so_is_what_was_made_from_a_number(nano: int, form: str) -> None:
    """Whatever form was asked for, it is one in which the amount can be written."""
    one = Quantity(nano, form)
    assert one.nano == nano
    assert Quantity.parse(str(one)) == one


@OFTEN
@given(written)
def test_it_says_the_amount_that_was_written(text: str) -> None:
    """A restatement by fractions: never less, in magnitude, and by less than a billionth more."""
    suffix = text.lstrip("+-.0123456789")
    number = Fraction(text.removesuffix(suffix).removesuffix("."))
    if suffix.endswith("i"):
        number *= 1024 ** ("KMGTPE".index(suffix[0]) + 1)
    elif suffix.startswith("e"):
        number *= Fraction(10) ** int(suffix[1:])
    else:
        number *= Fraction(10) ** [0, -9, -6, -3, 3, 6, 9, 12, 15, 18][SUFFIXES.index(suffix)]
    if suffix.endswith("i"):
        number = max(min(number, Fraction(LARGEST)), Fraction(-LARGEST))
    found = Fraction(Quantity.parse(text).nano, NANO)
    assert 0 <= abs(found) - abs(number) < Fraction(1, NANO)
    assert found * number >= 0


@pytest.mark.spec("GEN-11")
@each_row(
    ("text", "in_milli", "in_whole"),
    [
        ("0", 0, 0),
        ("500m", 500, 1),
        ("1", 1000, 1),
        ("1500m", 1500, 2),
        ("1u", 1, 1),
        ("1Gi", 1000 * 2**30, 2**30),
        ("-1500m", -1500, -2),
        ("-1u", -1, -1),
    ],
)
def test_it_is_counted_in_whole_numbers(text: str, in_milli: int, in_whole: int) -> None:
    """Cpu in thousandths and all else in whole units, a part of one taken for one."""
    amount = Quantity.parse(text)
    assert (amount.milli, amount.whole) == (in_milli, in_whole)
    assert counted("cpu", amount) == in_milli
    assert [counted(name, amount) for name in ("memory", "pods", "x/gpu")] == [in_whole] * 3
