"""Pages made by the server in English: signing in, invitations, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping

AUTH: Mapping[str, str | Mapping[str, str]] = {
    "sign_in.needed": "You need an invitation",
    "sign_in.needed_help": (
        "Open the link you were sent, or ask the person who invited you for a new one."
    ),
    "sign_in.sign_in": "Sign in",
    "sign_in.sign_in_with": "Sign in with {provider}",
    "sign_in.sign_out": "Sign out",
    "sign_in.unconfirmed": "Your login has no confirmed address",
    "sign_in.unconfirmed_help": (
        "{issuer} does not say that your e-mail address is confirmed. Confirm it there, or sign in "
        "as somebody else."
    ),
    "sign_in.unconfirmed_server": (
        "If it never says so, the person who runs this server can accept its addresses: {command}"
    ),
    "sign_in.other_login": "Your address belongs to another login",
    "sign_in.other_login_help": (
        "You are signed in as {address} at {issuer}. Somebody with this address is invited, but "
        "with another login or another account."
    ),
    "sign_in.other_login_ask": (
        "If that is you, ask the person who invited you to invite your address again."
    ),
    "sign_in.not_listed": "You are not on the list",
    "sign_in.not_listed_help": (
        "You are signed in as {address}, and nobody with this address is invited. Ask the person "
        "who runs this server to invite you."
    ),
    "sign_in.invitation": "Invitation",
    "sign_in.own_link": "Your sign-in link for {golden_set}",
    "sign_in.invites_to_grade": "{inviter} invites you to grade {passages} for {golden_set}",
    "sign_in.invites_to_lead": "{inviter} invites you to lead {golden_set}",
    "sign_in.invited_to_grade": "You are invited to grade {passages} for {golden_set}",
    "sign_in.invited_to_lead": "You are invited to lead {golden_set}",
    "sign_in.task_lead": "A lead loads files, invites people and sees every measure.",
    "sign_in.task": "It takes one key or tap per {passage}.",
    "sign_in.as": "Not {name}? Ask for a link of your own.",
    "sign_in.continue": "Continue as {name}",
    "sign_in.start": "Start grading as {name}",
    "sign_in.switch": "Switch to {name}?",
    "sign_in.switch_to": "Switch to {name}",
    "sign_in.stay": "Stay signed in as {name}",
    "sign_in.switch_link": "You are signed in as {now}. This link signs in {name}.",
    "sign_in.switch_login": "You are signed in as {now}, and your new login is {name}.",
    "sign_in.dead_link": "This link doesn't work",
    "sign_in.link_ended": (
        "It's incomplete or no longer valid. Ask the person who invited you for a new one."
    ),
    "sign_in.link_used": (
        "It works once and has been used. Ask the person who sent it to you for a new one."
    ),
    "sign_in.link_expired": "It has expired. Ask the person who sent it to you for a new one.",
    "sign_in.refused": "You can't sign in with this link",
    "sign_in.too_many": ("Too many links that do not work are being tried. Try again in a minute."),
    "sign_in.unavailable": "Out of order",
    "sign_in.tries_again": "This page tries again every few seconds.",
    "sign_in.leave": "Sign out, {name}?",
    "sign_in.leave_saved": "Your grades are saved. Anything not yet sent stays on this device.",
    "sign_in.leave_for_good": (
        "Your link has been used or has expired: to sign in again you need a new one."
    ),
    "sign_in.leave_here": "Sign out here",
    "sign_in.leave_everywhere": "Sign out everywhere",
    "sign_in.stay_here": "Stay signed in",
    "sign_in.left": "You are signed out",
    "sign_in.left_help": "You may still be signed in at your login provider.",
    "sign_in.leave_provider": "Sign out there, too",
    "sign_in.again": "Sign in again",
    "page.title": "Label",
    "page.none_here": "There is no page at this address",
    "page.none_here_help": "It may be mistyped or out of date.",
    "page.go_to": "Go to {page}",
    "page.nothing": "There is nothing to grade yet",
    "page.nothing_help": "Please come back later, or ask the person who invited you.",
    "page.for_leads": "{page} is for leads",
    "page.grading_only": "This server is for grading only",
    "page.to_grading": "Go to {page}, where you grade {passages}",
    "page.ended": "Your access has ended",
    "page.ended_help": (
        "Ask the person who invited you for a new link. Grades not sent yet stay on this device."
    ),
    "page.opening": "Opening the page…",
    "page.stale_link": "this address names something that is not here, or not any more",
    "page.unread": "No page reads {names} in this address.",
    "page.did_you_mean": "Did you mean {name}?",
    "page.leave_out": "Leave it out",
    "page.go_on": "Go on without it",
    "page.open_again": "Open this page again",
    # what an invitation says in a message
    "message.hello": "Hello {name},",
    "message.how": (
        "One key or tap per {passage} says how relevant it is; everything is saved automatically, "
        "and you can stop at any time."
    ),
    "message.link": "Your personal link: {link}",
    "message.personal": (
        "Please don’t pass it on: everything done with it is saved under your name."
    ),
    # why the server did not take something, as it is raised
    "api.changed_elsewhere": (
        "you changed this {passage} in another tab or on another device; that grade was kept"
    ),
    "api.grade_undone": "this grade was already undone",
    "api.remark_undone": "this remark was already undone",
    "api.graded_since": "this {passage} has been graded again since; undo that grade first",
    "api.remark_since": "you have said something else of this {question} since; undo that first",
    "api.no_query": "there is no {question} {query} in this golden set",
    "api.no_chunk": "there is no {passage} {chunk} in this golden set",
    "api.retired": "{question} {query} has been retired from this golden set",
    "api.grade_first": "grade this {passage} first; then you can see what others gave",
    "api.not_handed": (
        "this server did not hand you this {passage} for this {question}, or not with this text; "
        "open the {question} and grade it there"
    ),
    "api.other_set": "this grade was given for another golden set",
    "api.other_grader": "this was given by {owner}, not by {name}",
    "api.expired": "this page's permission to grade has run out; it is being renewed",
    "api.other_page": "this page was not opened for this golden set; open it again",
    "api.own_page": "grades are taken from labeler's own page only",
    "api.not_invited": (
        "{name} is not invited, or not any more; ask the person who invited you for a new link"
    ),
    "api.for_leads": "this is for leads; ask one of them",
    "api.link_late": "this link was not opened in time; make another on the Data page",
    "api.others_invited": ("somebody else has invited people in the meantime; ask them for a link"),
    "api.busy": (
        "the golden set: another process is writing to it; nothing was changed, try again in a "
        "moment"
    ),
    "api.many": "too many grades are being written; they are kept and sent again",
    "api.disk_full": "the golden set: the disk is full; nothing was changed",
    "api.unavailable": (
        "the golden set: the database isn't answering; work resumes automatically when it does"
    ),
    "api.out_of_order": ("the golden set: it can't be opened; the reason is in the server's log"),
    "api.too_much": (
        "more than {n} bytes in a minute; it is sent again shortly (labeler serve "
        "--bytes-per-minute raises this)"
    ),
    # why, in general, where a language has no sentence for it
    "api.storage": "the server’s storage has a problem; the reason is in its log",
    "api.refused": "the server does not take this; the reason is in its log",
    "api.failed": "the server failed; the reason is in its log",
}
