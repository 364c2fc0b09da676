"""Takes: how many arguments a function takes, so that a wrong one is refused where it is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import CodeType, MethodType
from typing import Any


def wrong_count(fn: Callable[..., Any], count: int) -> str:
    """Why it cannot be called with that many arguments, none of them by name; empty if it can, or
    if Python does not say."""
    # A scenario gives the same functions in every Run, and a signature takes long to make. So the
    # code is asked first. What wraps another function is asked for its own: a decorator may add
    # arguments or leave some out.
    code = getattr(fn, "__code__", None)
    if type(code) is CodeType and not code.co_kwonlyargcount:
        given = count + 1 if type(fn) is MethodType else count
        if given == code.co_argcount:
            return ""
        least: int = code.co_argcount - len(getattr(fn, "__defaults__", None) or ())
        if least <= given and (given <= code.co_argcount or code.co_flags & inspect.CO_VARARGS):
            return ""
    if isinstance(fn, partial) and not fn.keywords:
        return wrong_count(fn.func, count + len(fn.args))
    try:
        signature = inspect.signature(fn, follow_wrapped=False)
    except (TypeError, ValueError):  # one of Python's own, which may keep it
        return ""
    try:
        signature.bind(*[None] * count)
    except TypeError as wrong:
        return str(wrong)
    return ""
