"""The page as HTML: data, template, style and script in one file that asks for nothing outside."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import jinja2

ASSETS = Path(__file__).parent / "assets"
MODULES = (
    "dom", "words", "glossary", "model", "play", "bars", "shapes", "layout", "lanes", "detail",
    "scrubber", "viewer", "story", "guess", "progress", "playing", "whatif", "shell", "level",
    "main",
)  # fmt: skip
"""The script, file by file; each imports only from those before it."""
LEVEL = "level"
"""The part of the style that only the page of a level needs."""
STYLES = ("page", "viewer", "parts", LEVEL, "media")
"""The style, file by file; a later one overrules those before it."""
_IMPORT = re.compile(r"^import\b[^;]*;\n", re.MULTILINE)
_REMARK = re.compile(r"^ *(?:/\*\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)\n", re.MULTILINE)
_ASIDE = re.compile(r"/\*\* @(?:[^*]|\*(?!/))*\*/ *|^ +|^\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function|class|async)", re.MULTILINE)
# Inside a script element these would end it, begin a comment, or break a line of JavaScript.
_RISKY = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_SIGNS = {"violated": "✗", "held": "✓", "undecided": "?"}


def render(data: dict[str, Any]) -> str:
    """The whole page of `data`, which is PageData as `assets/types.d.ts` says it.

    Whatever stands in the data is text: the template escapes it, and the script sets it as text.
    The policy in its head lets only this very style and script run, and nothing be asked for.
    """
    styles = [name for name in STYLES if name != LEVEL or data["level"]]
    style = _ASIDE.sub("", "".join(_read(f"style/{name}.css") for name in styles))
    script = _script()
    return _template().render(
        page=data,
        run=data["runs"][0],
        signs=_SIGNS,
        json=_as_json(data),
        style=style,
        script=script,
        policy=(
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
            "base-uri 'none'; form-action 'none'"
        ),
    )


def _script() -> str:
    """All files as one module, since a page from disk may not import others; without remarks,
    types and indents."""
    texts = (_IMPORT.sub("", _REMARK.sub("", _read(f"script/{name}.js"))) for name in MODULES)
    return "".join(_ASIDE.sub("", _EXPORT.sub("", text)) for text in texts)


def _read(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def _template() -> jinja2.Template:
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters["grouped"] = lambda number: f"{number:,}"
    return env.get_template("page.html")


def _as_json(data: dict[str, Any]) -> str:
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(_RISKY.get(c, c) for c in text) if _RISKY.keys() & set(text) else text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
