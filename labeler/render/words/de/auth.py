"""Pages made by the server in German: signing in, invitations, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping

AUTH: Mapping[str, str | Mapping[str, str]] = {
    "sign_in.needed": "Sie brauchen eine Einladung",
    "sign_in.needed_help": (
        "Öffnen Sie den Link, den Sie bekommen haben, oder bitten Sie die Person, die Sie "
        "eingeladen hat, um einen neuen."
    ),
    "sign_in.sign_in": "Anmelden",
    "sign_in.sign_in_with": "Anmelden mit {provider}",
    "sign_in.sign_out": "Abmelden",
    "sign_in.unconfirmed": "Ihre Adresse ist nicht bestätigt",
    "sign_in.unconfirmed_help": (
        "{issuer} meldet nicht, dass Ihre E-Mail-Adresse bestätigt ist. Bestätigen Sie sie dort, "
        "oder melden Sie sich anders an."
    ),
    "sign_in.unconfirmed_server": (
        "Bleibt es dabei, kann der Betreiber dieses Servers die Adressen trotzdem zulassen: "
        "{command}"
    ),
    "sign_in.other_login": "Ihre Adresse gehört zu einer anderen Anmeldung",
    "sign_in.other_login_help": (
        "Sie sind als {address} bei {issuer} angemeldet. Diese Adresse ist eingeladen, aber mit "
        "einer anderen Anmeldung oder einem anderen Konto."
    ),
    "sign_in.other_login_ask": (
        "Sind Sie das, bitten Sie die Person, die Sie eingeladen hat, um eine neue Einladung."
    ),
    "sign_in.not_listed": "Sie sind nicht eingeladen",
    "sign_in.not_listed_help": (
        "Sie sind als {address} angemeldet; diese Adresse ist nicht eingeladen. Bitten Sie den "
        "Betreiber dieses Servers um eine Einladung."
    ),
    "sign_in.invitation": "Einladung",
    "sign_in.own_link": "Ihr Link zum Anmelden bei {golden_set}",
    "sign_in.invites_to_grade": "{inviter} bittet Sie, {passages} für {golden_set} zu bewerten",
    "sign_in.invites_to_lead": "{inviter} bittet Sie, {golden_set} zu leiten",
    "sign_in.invited_to_grade": "Sie sind eingeladen, {passages} für {golden_set} zu bewerten",
    "sign_in.invited_to_lead": "Sie sind eingeladen, {golden_set} zu leiten",
    "sign_in.task_lead": (
        "Wer leitet, lädt Dateien, lädt andere ein und sieht alle Messwerte. Diese Seiten sind "
        "englisch."
    ),
    "sign_in.task": "Je {passage} genügt eine Taste oder ein Tippen.",
    "sign_in.as": "Nicht {name}? Bitten Sie um einen eigenen Link.",
    "sign_in.continue": "Weiter als {name}",
    "sign_in.start": "Als {name} beginnen",
    "sign_in.switch": "Zu {name} wechseln?",
    "sign_in.switch_to": "Zu {name} wechseln",
    "sign_in.stay": "Als {name} angemeldet bleiben",
    "sign_in.switch_link": "Sie sind als {now} angemeldet. Dieser Link meldet {name} an.",
    "sign_in.switch_login": "Sie sind als {now} angemeldet; die neue Anmeldung ist {name}.",
    "sign_in.dead_link": "Dieser Link funktioniert nicht",
    "sign_in.link_ended": (
        "Er ist unvollständig oder nicht mehr gültig. Bitten Sie die Person, die Sie eingeladen "
        "hat, um einen neuen."
    ),
    "sign_in.link_used": (
        "Er gilt nur einmal und wurde schon verwendet. Bitten Sie die Person, von der er kommt, um "
        "einen neuen."
    ),
    "sign_in.link_expired": (
        "Er ist abgelaufen. Bitten Sie die Person, von der er kommt, um einen neuen."
    ),
    "sign_in.refused": "Mit diesem Link können Sie sich nicht anmelden",
    "sign_in.too_many": (
        "Gerade werden zu viele Links versucht, die nicht funktionieren. Bitte in einer Minute "
        "noch einmal."
    ),
    "sign_in.unavailable": "Außer Betrieb",
    "sign_in.tries_again": "Diese Seite versucht es alle paar Sekunden noch einmal.",
    "sign_in.leave": "Abmelden, {name}?",
    "sign_in.leave_saved": (
        "Ihre Bewertungen sind gespeichert. Noch nicht Gesendetes bleibt auf diesem Gerät."
    ),
    "sign_in.leave_for_good": (
        "Ihr Link ist verbraucht oder abgelaufen: Zum Anmelden brauchen Sie danach einen neuen."
    ),
    "sign_in.leave_here": "Hier abmelden",
    "sign_in.leave_everywhere": "Überall abmelden",
    "sign_in.stay_here": "Angemeldet bleiben",
    "sign_in.left": "Sie sind abgemeldet",
    "sign_in.left_help": "Bei Ihrem Anmeldedienst sind Sie vielleicht noch angemeldet.",
    "sign_in.leave_provider": "Auch dort abmelden",
    "sign_in.again": "Wieder anmelden",
    "page.title": "Bewerten",
    "page.none_here": "Unter dieser Adresse gibt es keine Seite",
    "page.none_here_help": "Sie ist vielleicht vertippt oder veraltet.",
    "page.go_to": "Zu {page}",
    "page.nothing": "Noch gibt es nichts zu bewerten",
    "page.nothing_help": (
        "Bitte kommen Sie später wieder, oder fragen Sie die Person, die Sie eingeladen hat."
    ),
    "page.for_leads": "{page} ist nur für die Leitung",
    "page.grading_only": "Auf diesem Server wird nur bewertet",
    "page.to_grading": "Zu {page}: {passages} bewerten",
    "page.ended": "Ihr Zugang ist beendet",
    "page.ended_help": (
        "Bitten Sie die Person, die Sie eingeladen hat, um einen neuen Link. Noch nicht "
        "Gesendetes bleibt auf diesem Gerät."
    ),
    "page.opening": "Die Seite wird geöffnet…",
    "page.stale_link": "diese Adresse nennt etwas, das es hier nicht oder nicht mehr gibt",
    "page.unread": "Keine Seite liest {names} in dieser Adresse.",
    "page.did_you_mean": "Meinten Sie {name}?",
    "page.leave_out": "Weglassen",
    "page.go_on": "Ohne das weiter",
    "page.open_again": "Diese Seite noch einmal öffnen",
    # Text einer Einladung
    "message.hello": "Guten Tag {name},",
    "message.how": (
        "Je {passage} genügt eine Taste oder ein Tippen; alles wird von selbst gespeichert, und "
        "Sie können jederzeit aufhören."
    ),
    "message.link": "Ihr persönlicher Link: {link}",
    "message.personal": (
        "Bitte geben Sie ihn nicht weiter: Alles, was damit geschieht, wird unter Ihrem Namen "
        "gespeichert."
    ),
    # warum der Server etwas nicht angenommen hat
    "api.changed_elsewhere": (
        "{passage} inzwischen in einem anderen Tab oder auf einem anderen Gerät bewertet; jene "
        "Bewertung gilt"
    ),
    "api.grade_undone": "diese Bewertung ist schon zurückgenommen",
    "api.remark_undone": "diese Bemerkung ist schon zurückgenommen",
    "api.graded_since": "{passage} seitdem neu bewertet; nehmen Sie zuerst jene Bewertung zurück",
    "api.remark_since": (
        "{question}: Sie haben seitdem etwas anderes gesagt; nehmen Sie zuerst das zurück"
    ),
    "api.no_query": "{question} {query} gibt es hier nicht",
    "api.no_chunk": "{passage} {chunk} gibt es hier nicht",
    "api.retired": "{question} {query} gehört nicht mehr dazu",
    "api.grade_first": (
        "bewerten Sie zuerst selbst ({passage}); dann sehen Sie, was andere gegeben haben"
    ),
    "api.not_handed": (
        "{passage} und {question} kamen so nicht von diesem Server; bitte {question} öffnen und "
        "dort bewerten"
    ),
    "api.other_set": "diese Bewertung gehört zu anderen Daten",
    "api.other_grader": "das kommt von {owner}, nicht von {name}",
    "api.expired": "die Berechtigung dieser Seite ist abgelaufen; sie wird erneuert",
    "api.other_page": "diese Seite gehört zu anderen Daten; öffnen Sie sie noch einmal",
    "api.own_page": "Bewertungen kommen nur von der eigenen Seite von labeler",
    "api.not_invited": (
        "{name} ist nicht oder nicht mehr eingeladen; bitten Sie die Person, die Sie eingeladen "
        "hat, um einen neuen Link"
    ),
    "api.for_leads": "das ist nur für die Leitung; fragen Sie dort",
    "api.link_late": (
        "dieser Link wurde nicht rechtzeitig geöffnet; machen Sie auf der Seite Data einen neuen"
    ),
    "api.others_invited": (
        "inzwischen hat jemand anderes Leute eingeladen; bitten Sie dort um einen Link"
    ),
    "api.busy": "gerade wird anderes gespeichert; nichts wurde geändert, gleich geht es weiter",
    "api.many": (
        "gerade werden viele Bewertungen gespeichert; Ihre sind sicher und werden noch einmal "
        "gesendet"
    ),
    "api.disk_full": "auf dem Server ist kein Platz mehr; nichts wurde geändert",
    "api.unavailable": "die Datenbank antwortet nicht; sobald sie es tut, geht es weiter",
    "api.out_of_order": "die Daten lassen sich nicht öffnen; das Protokoll des Servers sagt, warum",
    "api.too_much": (
        "mehr als {n} Bytes in einer Minute; der Betreiber dieses Servers kann das erhöhen "
        "(labeler serve --bytes-per-minute)"
    ),
    # warum, wo es keinen eigenen Satz gibt
    "api.storage": "der Speicher des Servers ist gestört; sein Protokoll sagt, warum",
    "api.refused": "der Server nimmt das nicht an; sein Protokoll sagt, warum",
    "api.failed": "auf dem Server ging etwas schief; sein Protokoll sagt, was",
}
