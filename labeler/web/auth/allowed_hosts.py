"""Host names this server answers to, and origins that count as its own pages.

The owner of a domain can point it at any machine (DNS rebinding), and a browser then takes this
server's responses for that domain's own. So a name has to be given to ``labeler serve``; a literal
IP address cannot be misused like that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from labeler.errors import BadInput

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HOST_NAMES, BOUND_ADDRESS = "LABELER_HOST_NAMES", "LABELER_BOUND"
HOST_PATTERN = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?")
READ_METHODS = ("GET", "HEAD")


@dataclass(frozen=True, slots=True)
class AllowedHosts:
    """The ``bound`` address and the host names ``given``, such as ``labels.example.org:8443``."""

    given: frozenset[str] = frozenset()
    bound: str = LOOPBACK[0]

    @classmethod
    def from_environment(cls) -> AllowedHosts:
        """Return the names that ``labeler serve`` set in the environment."""
        given = os.environ.get(HOST_NAMES, "").split()
        return cls(frozenset(given), os.environ.get(BOUND_ADDRESS, LOOPBACK[0]).lower())

    def admit(self, host: str | None) -> bool:
        """Return whether the server answers to a ``Host`` header; its port does not matter.

        >>> names = AllowedHosts(frozenset({"labels.example.org"}))
        >>> [names.admit(host) for host in ("Labels.Example.org:443", "[::1]:8501", "10.0.0.7")]
        [True, True, True]
        >>> [names.admit(host) for host in ("evil.example", "10.0.0.7.nip.io", "", None)]
        [False, False, False, False]
        """
        name = hostname(host or "")
        if name is None:
            return False
        named = {hostname(each) for each in self.given}
        return name in {*LOOPBACK, self.bound, *named} or is_address(name)

    def own(self, origin: str | None, host: str, *, secure: bool) -> bool:
        """Return whether an ``Origin`` is a page of this server: of ``host``, or of a given name.

        A given name counts even if a proxy has put another into ``Host``. If the browser came by
        https (``secure``), so must its page. A request without an origin is not made by a foreign
        page.

        >>> names = AllowedHosts(frozenset({"labels.example.org"}))
        >>> names.own("https://labels.example.org", "127.0.0.1:8501", secure=True)
        True
        >>> names.own("http://labels.example.org:81", "labels.example.org", secure=False)
        False
        """
        if origin is None:
            return True
        scheme, _, there = origin.lower().partition("://")
        if secure and scheme != "https":
            return False
        return there == host.lower() or there in self.given


def hostname(host: str) -> str | None:
    """Return the name or address in a ``Host`` header, None if it holds none.

    >>> hostname("Labels.Example.org.:443"), hostname("[::1]:80"), hostname("::1"), hostname("a/b")
    ('labels.example.org', '::1', None, None)
    """
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises if it is not a port
    except ValueError:
        return None
    whole = parts.netloc == host and "@" not in host
    return (parts.hostname or "").removesuffix(".") or None if whole else None


def is_address(name: str) -> bool:
    """Return whether a host is a literal IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def check_host_name(text: str) -> str:
    """Return a name as a browser sends it, ASCII in lower case; raise `BadInput` if invalid.

    >>> check_host_name("Labels.Example.org."), check_host_name("bücher.example:8443")
    ('labels.example.org', 'xn--bcher-kva.example:8443')
    """
    name, colon, port = text.strip().partition(":")
    try:
        plain = name.removesuffix(".").encode("idna").decode().lower() + colon + port
    except UnicodeError:
        plain = ""
    if not HOST_PATTERN.fullmatch(plain) or int(port or 0) > 65535:
        raise BadInput(
            f"--host-name {text!r}: give the name alone, as in labels.example.org, or with the "
            "port people see, as in labels.example.org:8443"
        )
    return plain


def is_https(scheme: str, headers: Mapping[str, str]) -> bool:
    """Return whether the visitor's browser came by https, to this server or to a proxy before it.

    >>> is_https("http", {"x-forwarded-proto": "https, http"}), is_https("ws", {})
    (True, False)
    """
    forwarded = headers.get("x-forwarded-proto", "").partition(",")[0]
    return scheme in ("https", "wss") or forwarded.strip().lower() == "https"
