"""English: what graders read."""

from __future__ import annotations

from labeler.model import GENERIC_GUIDELINE, Settings

NAME = "English"
THOUSANDS = ","
_DEFAULTS = Settings()

SENTENCES = {
    # what the golden set's settings replace
    "generic.question": _DEFAULTS.question[0],
    "generic.questions": _DEFAULTS.question[1],
    "generic.passage": _DEFAULTS.passage[0],
    "generic.passages": _DEFAULTS.passage[1],
    "generic.word_0": _DEFAULTS.words[0],
    "generic.word_1": _DEFAULTS.words[1],
    "generic.word_2": _DEFAULTS.words[2],
    "generic.word_3": _DEFAULTS.words[3],
    "generic.meaning_0": _DEFAULTS.meanings[0],
    "generic.meaning_1": _DEFAULTS.meanings[1],
    "generic.meaning_2": _DEFAULTS.meanings[2],
    "generic.meaning_3": _DEFAULTS.meanings[3],
    "generic.guideline": GENERIC_GUIDELINE,
    # numbers and times
    "count.passages": {"one": "{n} {passage}", "other": "{n} {passages}"},
    "count.questions": {"one": "{n} {question}", "other": "{n} {questions}"},
    "count.notes": {"one": "{n} note", "other": "{n} notes"},
    "count.runs": {"one": "found by {n} run", "other": "found by {n} runs"},
    "time.minutes": {"one": "about {n} min", "other": "about {n} min"},
    "time.hours": {"one": "about {n} hour", "other": "about {n} hours"},
    # who grades
    "form.title": "What’s your name?",
    "form.help": (
        "You’ll see a {question} and one {passage} at a time: one key or tap says how relevant the "
        "{passage} is. Your grades are saved under this name, and this browser remembers it."
    ),
    "form.name": "Your name",
    "form.stay": "Stay",
    "form.same": "{name} has graded {n} here. Is that you?",
    "form.yes": "Yes, that’s me",
    "form.no": "No, someone else",
    "form.tell_apart": "Please add something to your name that tells you apart.",
    "form.grading_as": "grading as {name}",
    "form.change": "Change name",
    # the bar, its keys and their list
    "bar.grade": "Grade this {passage}",
    "bar.instead": "Instead of a grade",
    "bar.more": "More",
    "bar.others": "What else you can do",
    "bar.choose": "Choose",
    "bar.or": "{digit} or {letter}",
    "bar.too_soon": "That click came as the {passage} changed and was ignored",
    "keys.title": "Keys",
    "keys.space": "Space",
    "keys.page_down": "PgDn",
    "keys.control": "Ctrl",
    "keys.grade": "grade the {passage}",
    "keys.home_row": "grade the {passage}, fingers on the home row",
    "keys.scroll": "scroll; PgUp, ↑, Home and End as everywhere",
    "keys.control_z": "also undo and redo",
    "keys.escape": "leave a list, a sheet or a field",
    "keys.undo": "undo",
    "keys.undo_help": "undo the last thing; press again for the one before",
    "keys.redo": "redo",
    "keys.redo_help": "redo what you undid",
    "keys.cannot_tell": "can’t tell",
    "keys.cannot_tell_help": "can’t tell; then say why",
    "keys.later": "later",
    "keys.later_help": "save the {passage} for later",
    "keys.back": "previous",
    "keys.back_help": "previous {passage}",
    "keys.ahead": "skip",
    "keys.ahead_help": "skip to the next, without grading",
    "keys.around": "show context",
    "keys.around_help": "what comes before and after the {passage}",
    "keys.evidence": "mark evidence",
    "keys.evidence_help": (
        "mark the words your grade rests on (select first, or step through sentences)"
    ),
    "keys.note": "note",
    "keys.note_help": "write a note on the {passage}",
    "keys.marks": "highlight",
    "keys.marks_help": "highlight the {question}’s words (on/off)",
    "keys.whole": "all {passages}",
    "keys.whole_help": "all {passages} of this {question} in one list",
    "keys.find": "find",
    "keys.find_help": "find a {passage} that is not among these",
    "keys.remark": "{question} problem",
    "keys.remark_help": "none of these {passages} answers the {question}, or it is unclear",
    "keys.mine": "my grades",
    "keys.mine_help": "look through your grades and change them",
    "keys.guideline": "how to grade",
    "keys.guideline_help": "how to grade",
    "keys.before_help": "accept the suggested earlier grade and its marks",
    "keys.told_help": "what others gave a {passage} that you have graded",
    "keys.name": "change name",
    "keys.name_help": "grade under another name",
    "keys.help": "all keys",
    "keys.help_help": "all keys and what they do",
    "keys.again": "A few {passages} come twice, to see how steady grades are.",
    "again.same": {
        "one": "The one {passage} that you saw again got the same grade.",
        "other": "All {n} {passages} that you saw again got the same grade.",
    },
    "again.differs": {
        "one": "The one {passage} that you saw again got another grade.",
        "other": "Of {n} {passages} that you saw again, {same} got the same grade.",
    },
    # how far it is
    "progress.decided": "decided",
    "progress.decides": {
        "one": "about {n} more decides it",
        "other": "about {n} more decide it",
    },
    "progress.all": {
        "one": "{n} {passage} of this {question}",
        "other": "All {n} {passages} of this {question}",
    },
    "progress.graded": "{done} of {all} graded",
    "progress.at": "{Passage} {at} of {all}",
    "progress.question_at": "{question} {at} of {all}",
    "progress.left": "{time} left",
    "progress.left_at_pace": "{time} left at your pace",
    "progress.in_question": "in this {question}",
    "progress.team": "{questions_in_all}: {done} done, {mine} by you",
    "progress.team_left": (
        "{questions_in_all}: {done} done, {mine} by you; {time} left at your pace"
    ),
    # what is asked for
    "scope.split": "split = {split}",
    "scope.without_leaked": "those that did not leak",
    "scope.only_leaked": "those that leaked",
    "scope.which_split": "Which split to grade",
    "scope.all_splits": "all splits",
    "scope.what": "What to grade",
    "scope.opening": "{passages} the new version ({recut}) left ungraded",
    "scope.opening_of": "{passages} the new version ({recut}) left ungraded since {old}",
    "scope.only_opening": "only {opening}",
    "scope.unnamed": "default",
    "scope.looking": "looking at earlier grades: {percent}%",
    "scope.all_passages": "all {passages}",
    "scope.all_questions": "all {questions}",
    # what is saved, and what went wrong
    "status.saved": "{n} saved",
    "status.kept_offline": "offline: {n} kept, sent when you’re back",
    "status.kept_stuck": "not saving: {n} kept, tried again",
    "status.not_yet": "{n} not yet",
    "status.waiting": "{n} waiting",
    "status.refused": "{n} refused",
    "trouble.no_passages": "Can’t get the next {passages}: {reason}.",
    "trouble.stuck": "Can’t save right now: {reason}. Trying again.",
    "trouble.shut_out": (
        "The server refuses this connection: {reason}. Your grades are kept on this device."
    ),
    "trouble.refused": "Not saved: {n}. Last reason: {reason}.",
    "trouble.at_risk": (
        "This browser is out of space: keep this page open until all is saved ({n} to go)."
    ),
    "trouble.unsafe": "This browser can’t store anything: unsaved grades are lost if it crashes.",
    "trouble.renamed": (
        "Unsent grades by somebody once called {name} on this device: {n}. They are sent once "
        "they sign in here."
    ),
    "trouble.others": (
        "Unsent grades by {name} on this device: {n}. They are sent once {name} signs in here."
    ),
    "trouble.somebody": "somebody",
    "trouble.offline": "offline: what you give is kept on this device",
    "trouble.stuck_now": "not saving: what you give is kept on this device",
    "trouble.look": "Look at them",
    "trouble.note": "This browser can’t store anything: the note is not kept",
    "trouble.away": "the server cannot be reached",
    "trouble.fetch": "This could not be fetched: {reason}. Nothing you graded is lost.",
    "trouble.again": "Try again",
    "trouble.not_fetched": "Not fetched: {reason}.",
    "trouble.fetching": "Fetching …",
    # the card
    "card.to_grade": "{Passage} to grade",
    "card.answer": "A good answer",
    "card.about": "About this {question}",
    "card.every": "For every {question}",
    "card.guideline": "How to grade",
    "card.more": "more",
    "card.from": "from {document}",
    "card.stale": "The text changed since it was graded",
    "card.news": "New {question} · {n} for you",
    "card.new_question": "New {question}: {text}",
    "card.copies": "This {passage} appears {n} times; your grade counts for all {n}.",
    "card.copies_two": "This {passage} appears twice; your grade counts for both.",
    "card.you_gave": "you gave {grade}",
    "card.later": "You saved this for later",
    "card.undone": "undone",
    "card.undone_was": "undone (was {grade})",
    "card.before": "What comes before it",
    "card.after": "What comes after it",
    "card.beginning": "This is the beginning of the document.",
    "card.end": "This is the end of the document.",
    "card.no_text": "Its text has not been added.",
    "card.tell": "what others gave",
    "card.read_on": "read on",
    "card.not_fetched": "… not fetched: {reason}",
    "card.below": {"one": "{n} more line ↓", "other": "{n} more lines ↓"},
    "card.code": "Code",
    "card.table": "Table",
    "card.columns": "Lines that stay whole",
    # what is asked in the panel
    "panel.cancel": "cancel",
    "panel.close": "close",
    "panel.discard": "discard",
    "panel.too_long": (
        "Too long by {over} characters: there is room for {most}. Nothing of it is lost; shorten "
        "it."
    ),
    "reason.title": "Why can’t you tell?",
    "reason.context": "needs more context",
    "reason.field": "outside my field",
    "reason.broken": "the text is broken",
    "reason.none": "no reason",
    "reason.other": "Other reason",
    "reason.enter": "then Enter",
    "note.label": "Note",
    "note.help": "Enter saves, Shift+Enter starts a new line",
    "note.save": "Save",
    "note.title": "A note on this {passage}",
    "note.kept": "Note kept",
    "note.none": "No note",
    "note.said": "Note: {note}",
    "note.waits": "Note: {note} (goes with your grade)",
    "note.too_long": {
        "one": "Note not saved: it is {n} character too long",
        "other": "Note not saved: it is {n} characters too long",
    },
    "note.not_saved": "Note not saved yet",
    "remark.about": "About the whole {question}",
    "remark.note": "Add a note (optional)",
    "remark.said": "You said: {remark}",
    "remark.unanswered": "none of these {passages} answers it",
    "remark.unclear": "the {question} is unclear",
    "remark.withdrawn": "taken back",
    "remark.withdraw": "take it back",
    # what was given, and what was done
    "given.cannot_tell": "can’t tell",
    "given.cannot_tell_because": "can’t tell: {reason}",
    "given.graded": "graded",
    "given.you": "You gave {grade}",
    "given.by_others": {"one": "{n} gave {grade}", "other": "{n} gave {grade}"},
    "given.nobody_else": "nobody else has graded it",
    "given.by_no_run": "found by no run",
    "given.where": "{Passage} {chunk}",
    "given.where_of": "{Passage} {chunk} of document {document}",
    "given.proposed": "{grade} proposed by {source}",
    "given.proposed_too": "{grade} by {source}",
    "event.undone": "You took your grade back.",
    "event.remark_undone": "You took a remark back.",
    "event.remark": "You said: {remark}.",
    "event.given": "You gave: {grade}",
    "spoken.saved": "{said}, saved",
    "spoken.kept": "{said}, kept until it can be saved",
    "did.undone": "Undone (was {step})",
    "did.undone_remark": "Undone: “{step}”",
    "did.redone": "Redone: {step}",
    "did.nothing_to_undo": "Nothing to undo",
    "did.nothing_to_redo": "Nothing to redo",
    "did.not_fetched": "Your earlier grades cannot be fetched just now",
    "did.first": "This is the first",
    "did.last": "This is the last one so far",
    "did.graded_already": "This {passage} is graded already",
    "did.only_one": "This is the only {passage} left",
    "did.later": "Saved for later",
    "did.no_passage": "No {passage} is on screen",
    "did.highlighted": "The {question}’s words are highlighted",
    "did.not_highlighted": "No highlighting",
    "did.grade_first": "Grade it first, then you can see what others gave",
    "did.other_tab": "graded in your other tab",
    "did.not_in_practice": "Not in the example",
    # evidence
    "marks.name": "Evidence",
    "marks.marked": {"one": "evidence marked", "other": "evidence marked in {n} places"},
    "marks.none": "Nothing is marked",
    "marks.wait": "goes with your grade",
    "marks.lost": "the evidence marked in the earlier text is no longer there",
    "marks.ask": "Which words does your grade rest on? K, then E",
    "marks.unmarked": "The grade is saved, its evidence is not: {reason}",
    "marks.room": "There is room for {n} marks in one text",
    "marks.nothing": "There is nothing to mark in it",
    "marks.keys": "J and K go from sentence to sentence, Space marks one, E is done.",
    "marks.sentence_marked": "Sentence {at} of {all}, marked",
    "marks.sentence": "Sentence {at} of {all}, not marked",
    "marks.aimed_marked": "marked: {words}",
    "marks.aimed": "not marked: {words}",
    "marks.take": "mark as evidence",
    "marks.drop": "take the mark away",
    "marks.previous": "previous sentence",
    "marks.next": "next sentence",
    "marks.this": "mark this sentence",
    "marks.not_this": "unmark it",
    "marks.done": "done",
    # lists
    "list.name": "All {passages} of this {question}",
    "list.one": "one {passage} at a time",
    "list.next": "next {question}",
    "list.move": "move",
    "list.fetching": "Fetching the {passages} …",
    "list.fetching_more": "Fetching more {passages} …",
    "list.nothing": "No {passage} of this {question} can be read yet.",
    "list.more": {"one": "Show more: {n} to come", "other": "Show more: {n} to come"},
    "list.progress": "{graded} of {all} graded by you · {left} not yet",
    "list.all": {"one": "all {n} graded by you", "other": "all {n} graded by you"},
    "list.all_graded": {"one": "All {n} graded", "other": "All {n} graded"},
    "list.differs": "This {passage} differs from the one above",
    "list.above_open": "The one above is not graded yet",
    "list.nothing_to_undo": "Nothing to undo here",
    "row.grade": "Grade {title}",
    "row.grade_this": "Grade this {passage}",
    "row.as_above": "same grade as the one above",
    "row.not_graded": "not graded",
    "row.pooled": "among those to grade",
    "row.by_hand": "found by hand",
    "row.by_hand_saved": "found by hand, saved",
    "row.copies": "{n} copies",
    "row.stale": "the text changed since it was graded",
    "row.twin": "nearly the same as the one above",
    "find.name": "Find a {passage}",
    "find.help": "Find a {passage} that is not among those of this {question}.",
    "find.words": "Words of the {passage} or its title",
    "find.back": "back",
    "find.nothing": "No matches. Try fewer or different words.",
    "find.found": {
        "one": "{n} match, best first. Use ↓ and grade the relevant ones.",
        "other": "{n} matches, best first. Use ↓ and grade the relevant ones.",
    },
    "mine.title": "My grades",
    "mine.which": "Which grades",
    "mine.back": "back to grading",
    "mine.fetching": "Fetching your grades …",
    "mine.more": {"one": "Show more: {n} older", "other": "Show more: {n} older"},
    "mine.none_so": "None of your grades is of this kind.",
    "mine.none": "You have graded nothing yet.",
    "mine.all": "all",
    "mine.note": "with note",
    "mine.later": "later",
    # sheets
    "sheet.name": "Sheet",
    "sheet.close": "close",
    "sheet.scale": "The scale",
    "refused.title": "What was refused",
    "refused.none": "Everything is saved.",
    "refused.help": (
        "These weren’t saved. They stay here until you send them again or discard them."
    ),
    "refused.untitled": "a {passage} without a title",
    "refused.mine": "Use mine instead",
    "refused.again": "Try again",
    "refused.discard": "Discard",
    "refused.because": "Refused because: {reason}",
    "refused.stands": "What stands: {grade}",
    # what was given before documents were cut anew
    "before.likely": "What is likely",
    "before.given": "What was given before",
    "before.take": "take {grade}",
    "before.take_marked": "take {grade}, with the marks",
    "before.take_marks": "take the marks",
    "before.nothing": "Nothing was given here before",
    "before.no_grade": "No earlier grade to accept: grade it yourself",
    "before.is_likely": "likely: {why}",
    "before.not_likely": "no grade follows: {why}",
    "before.why": "by what was graded and marked in texts that overlap",
    "before.more": "and {n} more",
    "before.marked": "[marked before, {signs}:",
    "before.told": "{who} gave {grade} on {day}",
    "before.told_for": "{who} gave {grade} on {day} for {words}",
    "before.file": "a file",
    "before.and": "{these}, and {those}",
    "before.these_cut": "the words marked so, which go on beyond this text",
    "before.these": "the words marked so",
    "before.words_elsewhere": "words that are not in this text",
    "before.others_elsewhere": "others that are not in this text",
    "before.words_lost": "words that cannot be found any more",
    "before.others_lost": "others that cannot be found any more",
    # the first visit, the example and the end
    "welcome.name": "Welcome",
    "welcome.title": "Welcome, {name}",
    "welcome.invited": (
        "{inviter} invites you to grade {passages} for {golden_set}. You read a {question} and a "
        "{passage}; one key or tap says how relevant the {passage} is."
    ),
    "welcome.task": (
        "Here you grade {passages} for {golden_set}. You read a {question} and a {passage}; one "
        "key or tap says how relevant the {passage} is."
    ),
    "welcome.how": (
        "If you can’t decide between two grades, give the lower one. Every grade is saved "
        "automatically, and you can undo any of them."
    ),
    "welcome.start": "Start grading",
    "welcome.practise": "Practise on an example",
    "welcome.contact": "Questions? Ask {contact}",
    "welcome.size": "{size}: {time} in all, in as many sittings as you like.",
    "welcome.both": "{questions_in_all} and {passages_in_all}",
    "welcome.about": "about {passages_in_all}",
    "practice.stop": "Stop practising",
    "practice.nothing_saved": "Practice: nothing here is saved.",
    "practice.ended": "That was the last one; nothing here was saved.",
    "practice.same": "You gave {grade}. Same as ours: {why}.",
    "practice.other": "You gave {grade}. We’d give it {ours}: {why}.",
    "practice.question": "Do I need a ticket for my dog on the train?",
    "practice.answer": (
        "Dogs in a carrier travel free; any other dog needs a ticket at half price."
    ),
    "practice.title_0": "Bicycles",
    "practice.text_0": (
        "A bicycle needs a ticket of its own, which costs 6 euros a day. In July and August you "
        "also reserve a place for it, at the latest on the evening before."
    ),
    "practice.why_0": "it’s about tickets, but for bicycles",
    "practice.title_3": "Travelling with animals",
    "practice.text_3": (
        "Dogs in a carrier travel free. Any other dog needs a ticket at half the price of yours, "
        "and stays on a lead. Guide dogs travel free, with or without a carrier."
    ),
    "practice.why_3": "it answers the question, for small and large dogs",
    "practice.title_1": "In the dining car",
    "practice.text_1": (
        "Dogs stay out of the dining car, except for guide dogs. If you travel alone with a dog, "
        "our staff bring your order to your seat."
    ),
    "practice.why_1": "it’s about dogs on trains, but says nothing about tickets",
    "practice.title_2": "Small pets",
    "practice.text_2": (
        "A pet that travels in a carrier needs no ticket. For larger animals see the conditions "
        "that came with your booking."
    ),
    "practice.why_2": "it answers the question for small dogs only",
    "done.decided": "Decided",
    "done.fetching": "Fetching more {passages} …",
    "done.no_text": "No {passage} can be read yet",
    "done.nothing": "Nothing to grade just now",
    "done.part": "Done with this part. Thank you, {name}.",
    "done.all": "Done. Thank you, {name}.",
    "done.offline": (
        "The next {passages} come as soon as the connection is back. Nothing you graded is lost."
    ),
    "done.keep_open": {
        "one": "Keep this page open: {n} grade to send.",
        "other": "Keep this page open: {n} grades to send.",
    },
    "done.saved": "Everything is saved. You can close this page.",
    "done.no_more_needed": "This is decided; no more grades are needed.",
    "done.texts": {
        "one": "The text of {n} {passage} hasn’t been added yet. Please tell {whom}.",
        "other": "The texts of {n} {passages} haven’t been added yet. Please tell {whom}.",
    },
    "done.inviter": "the person who invited you",
    "done.others_open": "Other {questions} may still be open: see all {questions}, above.",
    "done.more_to_come": "You’ll see more here when new {questions} are added.",
    "done.did": "You graded {passages_in_all} of {questions_in_all}",
    "done.did_in": "You graded {passages_in_all} of {questions_in_all} in {time}",
    "done.cannot_tell": {"one": "{n} can’t tell", "other": "{n} can’t tell"},
    "done.verdict": "See the verdict on Compare",
    "done.look_through": "Look through my grades",
    "done.undo_last": "Undo the last one",
    # pages made by the server: signing in, invitations, and what went wrong
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
    "sign_in.task": (
        "You read a {question} and a {passage}; one key or tap says how relevant the {passage} is."
    ),
    "sign_in.as": "Not {name}? Ask the person who sent you the link for one of your own.",
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
    "sign_in.link_expired": ("It has expired. Ask the person who sent it to you for a new one."),
    "sign_in.refused": "You can't sign in with this link",
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
    "page.open_again": "Open this page again",
    # why the server did not take something
    "api.changed_elsewhere": "{reason}",
    "api.expired": "{reason}",
    "api.forbidden": "{reason}",
    "api.storage": "{reason}",
    "api.busy": "{reason}",
    "api.other": "{reason}",
    "api.too_much": (
        "more than {n} bytes in a minute; it is sent again shortly (labeler serve "
        "--bytes-per-minute raises this)"
    ),
}
