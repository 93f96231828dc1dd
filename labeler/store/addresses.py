"""Location of a golden set: the path of a file, or the address of a PostgreSQL database.

An address may contain a password, which is removed wherever it is shown or logged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from labeler.errors import BadInput, NotFound

ADDRESS_PREFIXES = ("postgresql://", "postgres://")
FORM = "postgresql://USER@HOST:PORT/DATABASE"
SECRET_KEYS = ("password", "sslpassword")


class NoGoldenSet(NotFound):
    """Raised for a database without a golden set."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a PostgreSQL database, which holds one golden set.

    ``str(address)`` has no password and may be shown; ``url`` opens the database, and may hold one.
    """

    shown: str
    url: str = field(repr=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse an address; raise `BadInput`, without repeating the text, where it is none.

        >>> str(Address.parse("postgresql://ann:secret@db.example.org/golden"))
        'postgresql://ann@db.example.org/golden'
        """
        try:
            parts = urlsplit(url)
            _, _ = parts.port, parts.hostname
        except ValueError:
            raise invalid_address() from None
        if not parts.path.strip("/") or "/" in parts.path.strip("/") or parts.fragment:
            raise invalid_address()
        user, at, host = parts.netloc.rpartition("@")
        name, _, _ = user.partition(":")
        asked = [pair for pair in parse_qsl(parts.query) if pair[0] not in SECRET_KEYS]
        query = f"?{urlencode(asked, safe='/')}" if asked else ""
        return cls(f"postgresql://{name}{at}{host}{parts.path}{query}", url)

    @property
    def name(self) -> str:
        """The name of the database."""
        return unquote(urlsplit(self.url).path.strip("/"))

    @property
    def has_password(self) -> bool:
        """Whether the address itself holds a password."""
        parts = urlsplit(self.url)
        return bool(parts.password) or any(key in SECRET_KEYS for key, _ in parse_qsl(parts.query))

    @property
    def secrets(self) -> list[str]:
        """The passwords in the address, URL-encoded and decoded.

        >>> sorted(Address.parse("postgresql://db/golden?password=a%2Fb").secrets)
        ['a%2Fb', 'a/b']
        """
        parts = urlsplit(self.url)
        said = [value for key, value in parse_qsl(parts.query) if key in SECRET_KEYS]
        said += [parts.password, unquote(parts.password)] if parts.password else []
        quoted = (quote(each, safe=safe) for each in said for safe in ("/", ""))
        return [each for each in {*said, *quoted} if each]

    def absolute(self) -> Self:
        """Return the address itself: it is the same from every folder."""
        return self

    def __str__(self) -> str:
        """Return the address as it may be shown."""
        return self.shown


StoreLocation: TypeAlias = Path | Address


def parse_location(where: str | Path | Address) -> StoreLocation:
    """Return the file or the address that a text names."""
    if isinstance(where, Address):
        return where
    return Address.parse(str(where)) if is_address(where) else Path(where)


def is_address(where: object) -> bool:
    """Say whether a location is a database and not a file."""
    return isinstance(where, Address) or str(where).startswith(ADDRESS_PREFIXES)


def require_file(place: StoreLocation, instead: str) -> Path:
    """Return the file of a golden set; raise `BadInput` for one in a database.

    ``instead`` says in the message what to do; ``{name}`` in it becomes the name of the database.
    """
    if isinstance(place, Address):
        said = instead.format(name=place.name)
        raise BadInput(f"{place}: is in a database, not in a file: {said}")
    return place


def location_for_environment(place: StoreLocation) -> str:
    """Return the text by which another process opens the same golden set, passwords included."""
    return place.url if isinstance(place, Address) else str(place.absolute())


def invalid_address() -> BadInput:
    """Return the error for a text that begins like an address and is none."""
    return BadInput(
        f"the address of the database does not read like {FORM}; in a password, letters such as "
        "/ : @ ? # and % are written as %2F %3A %40 %3F %23 and %25"
    )


def redact_secrets(words: str, place: StoreLocation) -> str:
    """Return a message of another library without the passwords of an address."""
    for secret in place.secrets if isinstance(place, Address) else ():
        words = words.replace(secret, "…")
    return words
