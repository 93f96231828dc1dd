"""Signatures of values a browser returns: grading tokens, promised links, pairs given to graders.

The signing key is stored in the golden set, so signatures are valid after a restart of the server.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
from base64 import urlsafe_b64encode

from itsdangerous import BadData, SignatureExpired, URLSafeTimedSerializer

from labeler.errors import LabelerError

LIFETIME_SECONDS = int(os.environ.get("LABELER_TOKEN_SECONDS", "900"))


class Forbidden(LabelerError):
    """The visitor may not do this; a page responds with a new token, a route with status 403."""


class Expired(Forbidden):
    """The token has expired; its page issues a new one."""


def issue_token(signing_key: str, golden_set: str, grader: str) -> str:
    """Return a token that lets ``grader`` grade in ``golden_set`` for `LIFETIME_SECONDS`."""
    return _serializer(signing_key, golden_set).dumps(grader)


def grader_from_token(token: str, signing_key: str, golden_set: str) -> str:
    """Return the grader a token was issued to.

    Raises `Expired` if it is too old and `Forbidden` if it was not signed for this golden set.

    >>> grader_from_token(issue_token("key", "set", "Ann"), "key", "set")
    'Ann'
    >>> grader_from_token(issue_token("key", "set", "Ann"), "key", "another set")
    Traceback (most recent call last):
    labeler.web.auth.tokens.Forbidden: this page was not opened for this golden set; open it again
    """
    try:
        grader = _serializer(signing_key, golden_set).loads(token, max_age=LIFETIME_SECONDS)
    except SignatureExpired:
        raise Expired("this page's permission to grade has run out; it is being renewed") from None
    except BadData:
        raise Forbidden("this page was not opened for this golden set; open it again") from None
    return str(grader)


def sign_promise(signing_key: str, golden_set: str, name: str, secret_hash: str) -> str:
    """Return a signed promise: once used, the secret with this hash is the link of ``name``."""
    return _serializer(signing_key, golden_set, "promising").dumps([name, secret_hash])


def read_promise(token: str, signing_key: str, golden_set: str, secret_hash: str) -> str:
    """Return the name in a promise of the secret with this hash.

    Raises `Forbidden` if the promise is too old, or was made for another secret or golden set.
    """
    try:
        name, of = _serializer(signing_key, golden_set, "promising").loads(
            token, max_age=LIFETIME_SECONDS
        )
    except BadData:
        name = of = None
    if of is None or of != secret_hash:
        raise Forbidden("this link was not opened in time; make another on the Data page")
    return str(name)


class PairSignatures:
    """Signs the pairs given to graders, and verifies the signatures (slips) when grades come back.

    Unlike a token a slip never expires: a grade may wait in a browser until somebody opens it.

    >>> slips = PairSignatures("key", "set")
    >>> slip = slips.sign("grader", "query", "chunk")
    >>> slips.holds(slip, "grader", "query", "chunk"), slips.holds(slip, "grader", "query", "other")
    (True, False)
    """

    def __init__(self, signing_key: str, golden_set: str) -> None:
        salt = f"labeler handing {golden_set}"
        self._mac = hmac.new(f"{salt} {signing_key}".encode(), digestmod=hashlib.sha256)

    def sign(self, *names: object) -> str:
        """Return the slip for these names together."""
        mac = self._mac.copy()
        mac.update(json.dumps(names).encode())
        return urlsafe_b64encode(mac.digest()[:18]).decode()

    def holds(self, slip: object, *names: object) -> bool:
        """Return whether this is the slip for exactly these names."""
        if not isinstance(slip, str) or not slip.isascii():
            return False
        return hmac.compare_digest(slip, self.sign(*names))


def _serializer(
    signing_key: str, golden_set: str, purpose: str = "grading"
) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(signing_key, salt=f"labeler {purpose} {golden_set}")
