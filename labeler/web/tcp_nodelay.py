"""TCP_NODELAY on the listening socket, which Streamlit does not set.

Without it small responses wait 40 ms behind a proxy, because Nagle's algorithm waits for
acknowledgements that the other side delays.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import suppress

OPEN_FILES = "/dev/fd"  # on Linux and macOS


def set_tcp_nodelay() -> None:
    """Set TCP_NODELAY for all connections that this process accepts from now on.

    A proxy sends a request's head and body separately on a connection it keeps open. Each side then
    waits for the other, for 40 ms and more (Nagle's algorithm and delayed acknowledgements), unless
    TCP_NODELAY is set on the listening socket: accepted connections inherit it. Streamlit opens the
    socket without it and does not expose it, so it is searched for among the open files.
    """
    for number in _open_files():
        with suppress(OSError), _as_socket(number) as listener:
            if listener.family in (socket.AF_INET, socket.AF_INET6) and _is_listening(listener):
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _open_files() -> Iterator[int]:
    with suppress(OSError):
        yield from map(int, os.listdir(OPEN_FILES))


def _as_socket(number: int) -> socket.socket:
    """Return a duplicate of an open file as a socket; raise `OSError` if it is not one."""
    duplicate = os.dup(number)
    try:
        return socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _is_listening(found: socket.socket) -> bool:
    return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
