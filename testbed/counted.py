"""Counted: a number with its noun, as people write it: `1 run`, `8,000 runs`, `2 classes`."""


def counted(number: int, what: str, plural: str = "s") -> str:
    """So many of them; unless it is said, an `s` makes more than one of it, or none."""
    return f"{number:,} {what}{'' if number == 1 else plural}"
