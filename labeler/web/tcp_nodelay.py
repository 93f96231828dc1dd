"""TCP_NODELAY on the listening socket, which Streamlit does not set.

Without it small responses wait 40 ms behind a proxy, because Nagle's algorithm meets delayed
acknowledgements.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress

OPEN_FILES = "/dev/fd"  # by number; on Linux and macOS alike


def set_tcp_nodelay() -> None:
    """Let nothing wait to be sent on connections that this process accepts from now on.

    A proxy sends a request's head and its body apart on a connection that it keeps. Each side then
    waits for the other, for 40 ms and more (Nagle's algorithm meets delayed acknowledgements),
    unless the listening socket says TCP_NODELAY: accepted connections take that over. Streamlit
    opens the socket without it and hands it to nobody, so that it is looked for among open files.
    """
    for number in _open_files():
        with suppress(OSError), _as_socket(number) as found:
            if found.family in (socket.AF_INET, socket.AF_INET6) and _is_listening(found):
                found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _open_files() -> Iterator[int]:
    with suppress(OSError):
        yield from map(int, os.listdir(OPEN_FILES))


def _as_socket(number: int) -> socket.socket:
    """Return an open file once more, as a socket; raises `OSError` where it is none."""
    again = os.dup(number)
    try:
        return socket.socket(fileno=again)
    except OSError:
        os.close(again)
        raise


def _is_listening(found: socket.socket) -> bool:
    return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
