"""Signatures of the public Python functions, for `reference/python.md`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import labeler
from labeler import frames
from labeler.api.options import EvaluationRules

OPTIONS = inspect.signature(EvaluationRules.of).parameters
MEASURES = "measures"


def functions() -> str:
    """Return each public name of `labeler` with its signature and what it does."""
    return "\n\n".join(_described("labeler", labeler, labeler.__all__))


def frame_functions() -> str:
    """Return the same of `labeler.frames`."""
    return "\n\n".join(_described("frames", frames, frames.__all__))


def options() -> str:
    """Return the options that functions share, each with its default."""
    return "\n".join(f"{name}={_default(each)}" for name, each in OPTIONS.items())


def _described(owner: str, module: Any, names: list[str]) -> Iterator[str]:
    for name in names:
        each = getattr(module, name)
        if callable(each) and each.__name__ == name:
            says = (inspect.getdoc(each) or "").partition("\n\n")[0].replace("\n", " ")
            yield f"```text\n{owner}.{name}{_signature(each)}\n```\n\n{_plain(says)}"


def _plain(text: str) -> str:
    return text.replace("``", "`")


def _signature(function: Callable[..., Any]) -> str:
    """Return the parameters without types, the shared options as ``**options``."""
    given = inspect.signature(function).parameters.values()
    own = [each for each in given if each.name not in OPTIONS]
    parts: list[str] = []
    for each in own:
        if each.kind is each.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        star = "*" if each.kind is each.VAR_POSITIONAL else ""
        default = "" if each.default is each.empty else f"={_default(each)}"
        parts.append(f"{star}{each.name}{default}")
    if len(own) < len(given):
        parts.append("**options")
    return _wrapped(parts)


def _default(parameter: inspect.Parameter) -> str:
    value = " ".join(parameter.default) if parameter.name == MEASURES else parameter.default
    if isinstance(value, str):
        return f'"{value}"'
    return f"{type(value).__name__}()" if isinstance(value, labeler.Limits) else repr(value)


def _wrapped(parts: list[str]) -> str:
    line = f"({', '.join(parts)})"
    return line if len(line) < 72 else "(\n" + "".join(f"    {part},\n" for part in parts) + ")"
