"""Servers with a closed door, and a provider to log in with, as processes for the tests here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from labeler.access import hash_of, new_secret
from labeler.store.people import Role
from tests.browser.server import Server

QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class DoorServer(Server):
    """The app as ``labeler serve`` runs it with more arguments."""

    def __init__(self, database: Path, *arguments: str) -> None:
        super().__init__(database)
        self.arguments = arguments

    def start(self) -> None:
        """Start the server and return once it answers."""
        command = [sys.executable, "-m", "labeler", "--db", str(self.database), "serve"]
        self.process = subprocess.Popen(
            [*command, "--no-browser", "--port", str(self.port), *self.arguments],
            # the provider of the tests speaks plain http
            env={**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"},
            **QUIET,
        )
        wait_for(f"{self.url}/_stcore/health")


class Provider:
    """An OpenID provider where anybody of ``people`` may log in by pressing a button."""

    def __init__(self, port: int, people: dict[str, dict[str, object]]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        claims = [json.dumps({"sub": name, **said}) for name, said in people.items()]
        options = [word for claim in claims for word in ("--user-claims", claim)]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "oidc_provider_mock", "--port", str(port), *options], **QUIET
        )
        wait_for(f"{self.url}/.well-known/openid-configuration")

    def stop(self) -> None:
        """End the provider."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=20)


def wait_for(url: str) -> None:
    """Return once somebody answers."""
    for _ in range(900):
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"no answer from {url}")


def link_for(server: Server, name: str, role: Role = "grader") -> str:
    """Invite a person and return their link."""
    secret = new_secret()
    with server.store() as store:
        store.invite(name, hash_of(secret), role=role)
    return f"{server.url}/join/{secret}"
