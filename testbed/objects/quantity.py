"""Quantity: an amount of a resource (`500m`, `1Gi`, `2`), read and printed as Kubernetes does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import attrs

from testbed.objects.meta import Map

NANO = 10**9
CPU = "cpu"
DECIMAL, BINARY, EXPONENT = "decimal", "binary", "exponent"
_DECIMALS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARIES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIXES = {power: suffix for suffix, power in _DECIMALS.items()}
_WRITTEN = re.compile(
    r"([+-]?)([0-9]{1,99}(?:\.[0-9]{0,99})?|\.[0-9]{1,99})"
    r"(?:([numkMGTPE]?)|([KMGTPE]i)|[eE]([+-]?[0-9]{1,3}))"
)
LAST_SUFFIX = 18
"""The largest power of ten with a decimal suffix."""
LARGEST = 2**63 - 1
"""The largest amount with a binary suffix; a larger one is read as this."""


@attrs.frozen
class Quantity:
    """An exact amount in billionths, and the form in which it is written.

    Fractions of a billionth are rounded away from zero, as in Kubernetes, so that a small request
    is never a request of nothing. It prints in its canonical form: `1000m` as `1`, `1024Mi` as
    `1Gi`. If the amount cannot be written in its form, it takes the form that it would have after
    being printed and read again: `1.5Ki` is the decimal `1536`, `1000E` is `1e21`.
    """

    nano: int
    """The amount in billionths."""
    form: str = DECIMAL
    """The suffixes that it is written with: decimal (`k`), binary (`Ki`) or exponent (`e3`)."""

    @classmethod
    def parse(cls, text: str | int | float) -> Self:
        """The amount of a text; ValueError if it is none."""
        found = _WRITTEN.fullmatch(str(text)) if not isinstance(text, bool) else None
        if found is None:
            raise ValueError("an amount such as 500m, 1Gi or 2")
        sign, digits, suffix, binary, exponent = found.groups()
        amount, form = Fraction(digits.rstrip(".") or "0"), DECIMAL
        if binary:
            amount, form = amount * 2 ** _BINARIES[binary], BINARY
        elif exponent is not None:
            amount, form = amount * Fraction(10) ** int(exponent), EXPONENT
        else:
            amount = amount * Fraction(10) ** _DECIMALS[suffix or ""]
        nano = _up(amount * NANO)
        if form == BINARY:
            nano = min(nano, LARGEST * NANO)
        return cls(-nano if sign == "-" else nano, form)

    def __attrs_post_init__(self) -> None:
        form, amount = self.form, abs(_checked(self.nano))
        if form == BINARY and (amount % (1024 * NANO) or not 0 < amount <= LARGEST * NANO):
            form = DECIMAL
        if form == EXPONENT and _power_of(self.nano) == 0:
            form = DECIMAL
        if form == DECIMAL and not self.nano % 10**30 and _power_of(self.nano) > LAST_SUFFIX:
            form = EXPONENT
        if form is not self.form:
            object.__setattr__(self, "form", form)

    @property
    def milli(self) -> int:
        """The amount in thousandths, rounded away from zero: the unit for cpu."""
        return _away(self.nano, 10**6)

    @property
    def whole(self) -> int:
        """The amount in whole units, rounded away from zero: the unit for everything but cpu."""
        return _away(self.nano, NANO)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __str__(self) -> str:
        if self.form == BINARY:
            return _in_binary(self.nano // NANO)
        power = _power_of(self.nano)
        amount = self.nano // 10 ** (power + 9)
        if self.form == EXPONENT:
            return f"{amount}e{power}"
        return f"{amount}{_SUFFIXES[power]}"


def amounts(given: Mapping[str, Quantity | str | int]) -> Map[Quantity]:
    """A Map of Quantities, from a mapping such as `{"cpu": "500m", "memory": "1Gi"}`."""
    if isinstance(given, Map) and all(type(each) is Quantity for each in given.values()):
        return given
    return Map({k: v if isinstance(v, Quantity) else Quantity.parse(v) for k, v in given.items()})


def milli(amount: int) -> Quantity:
    """A Quantity of this many thousandths."""
    return Quantity(_checked(amount) * 10**6)


def whole(amount: int) -> Quantity:
    """A Quantity of this many whole units, with a binary suffix where one fits."""
    return Quantity(_checked(amount) * NANO, BINARY if abs(amount) >= 1024 else DECIMAL)


def _checked(amount: Any) -> int:
    """The same; TypeError if it is no whole number."""
    if not isinstance(amount, int) or isinstance(amount, bool):
        raise TypeError(f"{amount!r}: expected a whole number, such as 100")
    return amount


def counted(resource: str, amount: Quantity) -> int:
    """The whole number by which amounts of a resource are compared: cpu in thousandths (GEN-11)."""
    return amount.milli if resource == CPU else amount.whole


def _up(amount: Fraction) -> int:
    return -(-amount.numerator // amount.denominator)


def _away(amount: int, unit: int) -> int:
    """The amount in units, rounded away from zero."""
    return -(-amount // unit) if amount > 0 else amount // unit


def _power_of(nano: int) -> int:
    """The largest p, a multiple of three, such that the amount is a multiple of ten to the p."""
    power = -9 if nano else 0
    while nano and nano % 1000 == 0:
        nano, power = nano // 1000, power + 3
    return power


def _in_binary(amount: int) -> str:
    suffix = ""
    for name in _BINARIES:
        if amount % 1024:
            break
        amount, suffix = amount // 1024, name
    return f"{amount}{suffix}"
