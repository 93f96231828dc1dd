"""Servers with a closed door, and a provider to log in with, as processes for the tests here."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page

from labeler.store.people import Role
from labeler.web.auth.access import hash_secret, new_secret
from tests.browser.server import QUIET, Server, WarmServer, wait_for


class DoorServer(WarmServer):
    """The app as ``labeler serve`` runs it with more arguments."""

    def __init__(self, database: Path, *arguments: str) -> None:
        # the provider of the tests speaks plain http
        super().__init__(database, *arguments, AUTHLIB_INSECURE_TRANSPORT="1")


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


def come_in(page: Page) -> None:
    """Press the button of a link's page, if it asks."""
    button = page.get_by_role(
        "button", name=re.compile("^(Continue as|Start grading as|Switch to) ")
    )
    if button.count():
        button.click()
        page.wait_for_url(lambda url: "/join/" not in url)


def link_for(server: Server, name: str, role: Role = "grader") -> str:
    """Invite a person and return their link."""
    secret = new_secret()
    with server.store() as store:
        store.people.invite(name, hash_secret(secret), role=role)
    return f"{server.url}/join/{secret}"
