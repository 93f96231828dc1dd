"""Invitation: the person, role and golden set of a link, and the message sent with it.

The command line prints the message, so neither Streamlit nor htpy is imported here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from labeler.render.words import Words
from labeler.store import Store
from labeler.store.people import Role


@dataclass(frozen=True, slots=True)
class Invitation:
    """The person, role and golden set of an invitation, and who sent it.

    ``inviter`` is None if nobody named on the pages sent it, for example on the command line.
    """

    name: str
    role: Role
    golden_set: str
    inviter: str | None

    @classmethod
    def of(cls, store: Store, name: str, role: Role) -> Invitation:
        """Return the invitation of a person."""
        return cls(name, role, store.golden_set.name(), store.people.inviter_of(name))

    @classmethod
    def promised(cls, store: Store, name: str) -> Invitation:
        """Return the invitation of a lead who makes a link for themself."""
        return replace(cls.of(store, name, "lead"), inviter=name)

    def heading(self, words: Words) -> str:
        """Say who invites, and to what."""
        golden_set, is_lead = self.golden_set, self.role == "lead"
        if self.inviter == self.name:
            return words.say("sign_in.own_link", golden_set=golden_set)
        if self.inviter is None:
            key = "sign_in.invited_to_lead" if is_lead else "sign_in.invited_to_grade"
            return words.say(key, golden_set=golden_set)
        key = "sign_in.invites_to_lead" if is_lead else "sign_in.invites_to_grade"
        return words.say(key, inviter=self.inviter, golden_set=golden_set)

    def task(self, words: Words) -> str:
        """Say what the invited person is asked to do."""
        return words.say("sign_in.task_lead" if self.role == "lead" else "sign_in.task")

    def message(self, words: Words, link: str) -> str:
        """Return the message to send to the invited person, with their link."""
        how = self.task(words) if self.role == "lead" else words.say("message.how")
        parts = [
            words.say("message.hello", name=self.name),
            f"{self.heading(words)}. {how}",
            words.say("message.link", link=link),
            words.say("message.personal"),
        ]
        return "\n\n".join(parts)
