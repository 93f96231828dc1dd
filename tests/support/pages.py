"""Text of a page: all that Streamlit would send to the browser, as lines that can be compared."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs, urlencode

import pyarrow as pa
from google.protobuf.message import Message
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.testing.v1 import AppTest

Make = Callable[[], bytes | str]

# Made anew in each run, or the way something is drawn and not what is said.
LEFT_OUT = {
    *(
        "id",
        "form_id",
        "url",
        "deferred_file_id",
        "js_content",
        "js_source_path",
        "css_source_path",
    ),
    *("css_content", "html_content", "stack_trace", "hash", "height_config", "width_config"),
    *("gap_config", "set_value", "proto_hash", "file_urls_mapping"),
}
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
SCRIPT = re.compile(r"(<script[^>]*>)([^<]{20000}.*?)(</script>)", re.DOTALL)
LONGEST_FILE = 1_000_000
HOME = "label"


@dataclass
class Recorder:
    """Opens pages and keeps the style sheets that any of them had, each once."""

    clean: Callable[[str], str]
    styles: set[str] = field(default_factory=set)

    def text(self, address: str) -> str:
        """Return what a page says, the address it ends with and the files it offers."""
        from tests.support.page import open_page  # which brings pytest along

        path, _, query = address.partition("?")
        given = {name: _one(each) for name, each in parse_qs(query, keep_blank_values=True).items()}
        files: list[tuple[str | None, Make]] = []
        add = MediaFileManager.add_deferred

        def note(manager: MediaFileManager, make: Make, *rest: Any, **more: Any) -> str:
            files.append((more.get("file_name") or (rest[2] if len(rest) > 2 else None), make))
            return add(manager, make, *rest, **more)

        with patch.object(MediaFileManager, "add_deferred", note):
            app = open_page(path.strip("/") or HOME, **given)
        lines = [f"# {address}", *self._elements(app), _ends_at(app)]
        lines += [line for name, make in files for line in self._file_lines(name, make)]
        return self.clean("\n".join([*lines, ""]))

    def style_text(self) -> str:
        """Return all style sheets so far."""
        return "\n/* --- */\n".join(sorted(self.styles)) + "\n"

    def _elements(self, app: AppTest) -> Iterator[str]:
        yield from self._below(app._tree, 0)

    def _file_lines(self, name: str | None, make: Make) -> Iterator[str]:
        """Give what a download button would send, or why it cannot."""
        try:
            content = make()
        except Exception as error:  # the page is recorded all the same
            yield f"file {name}: {type(error).__name__}: {error}"
            return
        if not isinstance(content, bytes | str):
            content = content.read()
        yield f"file {name}:"
        for part, text in _texts(content):
            yield from [part] if part else []
            yield from file_lines(self.clean(text))

    def _below(self, block: Any, depth: int) -> Iterator[str]:
        for element in block.children.values():
            said = {} if element.proto is None else self._plain(element.proto)
            shown = json.dumps(said, indent=1, ensure_ascii=False, sort_keys=True) if said else ""
            yield from (
                f"{element.type} {shown}".rstrip().replace("\n", f"\n{' ' * depth}").split("\n")
            )
            if hasattr(element, "children"):
                yield from self._below(element, depth + 1)

    def _plain(self, message: Message) -> dict[str, Any]:
        """Return the fields of a message that are set."""
        found: dict[str, Any] = {}
        for at, value in message.ListFields():
            if at.name in LEFT_OUT:
                continue
            if isinstance(value, dict) or hasattr(value, "items"):
                found[at.name] = {str(key): self._value(each) for key, each in value.items()}
            elif at.is_repeated:
                found[at.name] = [self._value(each) for each in value]
            else:
                found[at.name] = self._value(value)
        return found

    def _value(self, value: Any) -> Any:
        """Return a value as JSON can hold it; HTML, tables and JSON inside it are taken apart."""
        if isinstance(value, Message):
            return self._plain(value)
        if isinstance(value, bytes):
            return table_lines(value)
        if isinstance(value, str) and value[:1] in ("{", "["):
            try:
                return self._inside(json.loads(value))
            except ValueError:
                return value
        return self._inside(value)

    def _inside(self, value: Any) -> Any:
        """Return a value with its markup on lines of its own and without style sheets."""
        if isinstance(value, dict):
            return {key: self._inside(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._inside(each) for each in value]
        if not isinstance(value, str):
            return value
        self.styles.update(STYLE.findall(value))
        lines = html_lines(STYLE.sub("", value))
        return lines if len(lines) > 1 else "".join(lines)


def html_lines(text: str) -> list[str]:
    """Return a text on lines, HTML with a line for each element."""
    return re.sub(r">(?=<)", ">\n", text).split("\n")


def _texts(content: bytes | str) -> Iterator[tuple[str, str]]:
    """Give the text of a file, or those of an archive with their names; none of a database."""
    if isinstance(content, bytes) and content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in sorted(archive.namelist()):
                yield name, archive.read(name).decode("utf-8", "replace")
    elif isinstance(content, bytes) and content.startswith(b"SQLite"):
        yield "(a database)", ""
    else:
        yield "", content if isinstance(content, str) else content.decode("utf-8", "replace")


def file_lines(text: str) -> list[str]:
    """Return the lines of a file, those of HTML without long scripts."""
    if text.lstrip().startswith("<!"):
        short = SCRIPT.sub(lambda found: found[1] + digest(found[2].encode()) + found[3], text)
        return html_lines(short)
    is_text = len(text) <= LONGEST_FILE and "\0" not in text
    return text.rstrip("\n").split("\n") if is_text else [digest(text.encode())]


def digest(content: bytes) -> str:
    """Name a content that is too long, or no text, by its length and hash."""
    return f"({len(content)} bytes, {hashlib.sha256(content).hexdigest()[:16]})"


def table_lines(content: bytes) -> list[str] | str:
    """Return an Arrow table as CSV, other bytes by their hash."""
    try:
        frame = pa.ipc.open_stream(content).read_all().to_pandas()
    except pa.ArrowInvalid:
        return digest(content)
    return frame.to_csv().rstrip("\n").split("\n")


def _one(values: list[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else values


def _ends_at(app: AppTest) -> str:
    return f"address after: ?{urlencode(dict(app.query_params), doseq=True)}"
