"""German: what graders read.

The team may give things names of any gender, so a name stands alone or in the plural: "{passage}
schon bewertet", not "diese {passage} ist schon bewertet".
"""

from __future__ import annotations

NAME = "Deutsch"
THOUSANDS = "."

_GUIDELINE = """\
Lesen Sie beides, {question} und {passage}. Bewerten Sie, was im Text steht, als könnten Sie der \
fragenden Person nur diesen Text zeigen: nicht, wie gut er geschrieben ist, und nichts, was Sie \
sonst wissen. Schwanken Sie zwischen zwei Stufen, nehmen Sie die niedrigere.
Ein Beispiel. {Question}: Wie lange kann ich ein Paket zurückschicken?
3: Sie können ein Paket innerhalb von 30 Tagen nach der Lieferung zurückschicken.
2: Reduzierte Ware geht innerhalb von 14 Tagen zurück; für alles andere gelten unsere AGB.
1: Rücksendungen prüfen wir in unserem Lager in Leipzig.
0: Wir liefern Pakete von Montag bis Freitag."""

SENTENCES = {
    # was die Einstellungen des Teams ersetzen
    "generic.question": "Frage",
    "generic.questions": "Fragen",
    "generic.passage": "Textstelle",
    "generic.passages": "Textstellen",
    "generic.word_0": "nicht relevant",
    "generic.word_1": "kaum relevant",
    "generic.word_2": "teilweise relevant",
    "generic.word_3": "sehr relevant",
    "generic.meaning_0": "anderes Thema",
    "generic.meaning_1": "passt zum Thema, keine Antwort",
    "generic.meaning_2": "beantwortet einen Teil",
    "generic.meaning_3": "beantwortet alles",
    "generic.guideline": _GUIDELINE,
    # Zahlen und Zeiten
    "count.passages": {"one": "{n} {passage}", "other": "{n} {passages}"},
    "count.questions": {"one": "{n} {question}", "other": "{n} {questions}"},
    "count.notes": {"one": "{n} Notiz", "other": "{n} Notizen"},
    "count.runs": {"one": "von {n} Suchlauf gefunden", "other": "von {n} Suchläufen gefunden"},
    "time.minutes": {"one": "etwa {n} Minute", "other": "etwa {n} Minuten"},
    "time.hours": {"one": "etwa {n} Stunde", "other": "etwa {n} Stunden"},
    "time.hours_minutes": "etwa {n} Std. {minutes} Min.",
    # wer bewertet
    "form.title": "Wie heißen Sie?",
    "form.help": (
        "Sie lesen {question} und {passage}; eine Taste oder ein Tippen sagt, wie relevant der "
        "Text ist. Ihre Bewertungen werden unter diesem Namen gespeichert; dieser Browser merkt "
        "ihn sich."
    ),
    "form.name": "Ihr Name",
    "form.stay": "Name behalten",
    "form.same": "{name} hat hier schon {n} bewertet. Sind Sie das?",
    "form.yes": "Ja, das bin ich",
    "form.no": "Nein, jemand anderes",
    "form.tell_apart": "Bitte ergänzen Sie Ihren Namen, damit man Sie unterscheiden kann.",
    "form.grading_as": "angemeldet als {name}",
    "form.change": "Name ändern",
    # Leiste, Tasten und ihre Liste
    "bar.grade": "{passage} bewerten",
    "bar.instead": "Statt einer Bewertung",
    "bar.more": "Mehr",
    "bar.others": "Was Sie sonst tun können",
    "bar.choose": "Auswählen",
    "bar.or": "{digit} oder {letter}",
    "bar.too_soon": "Klick nicht gezählt: Gerade erschien der nächste Text ({passage})",
    "keys.title": "Tasten",
    "keys.space": "Leertaste",
    "keys.page_down": "Bild ↓",
    "keys.control": "Strg",
    "keys.grade": "{passage} bewerten",
    "keys.home_row": "{passage} bewerten, Finger auf der Grundreihe",
    "keys.scroll": "blättern; auch Bild ↑, ↑, Pos1 und Ende",
    "keys.control_z": "ebenfalls rückgängig und wiederholen",
    "keys.escape": "Liste, Fenster oder Feld verlassen",
    "keys.undo": "rückgängig",
    "keys.undo_help": "den letzten Schritt zurücknehmen; noch einmal: den davor",
    "keys.redo": "wiederholen",
    "keys.redo_help": "Zurückgenommenes wiederherstellen",
    "keys.cannot_tell": "weiß nicht",
    "keys.cannot_tell_help": "Sie können es nicht beurteilen; mit Grund",
    "keys.later": "später",
    "keys.later_help": "{passage} zurückstellen",
    "keys.back": "zurück",
    "keys.back_help": "zurück: {passage}",
    "keys.ahead": "weiter",
    "keys.ahead_help": "weiter, ohne zu bewerten",
    "keys.around": "Umfeld",
    "keys.around_help": "{passage}: der Text davor und danach",
    "keys.evidence": "Beleg",
    "keys.evidence_help": (
        "Worte markieren, auf denen Ihre Bewertung beruht (erst auswählen oder Satz für Satz)"
    ),
    "keys.note": "Notiz",
    "keys.note_help": "{passage} mit einer Notiz versehen",
    "keys.marks": "hervorheben",
    "keys.marks_help": "{question}: ihre Wörter im Text hervorheben oder nicht",
    "keys.whole": "alle {passages}",
    "keys.whole_help": "{question}: alle {passages} in einer Liste",
    "keys.find": "suchen",
    "keys.find_help": "{passage} suchen, auch unter denen, die hier fehlen",
    "keys.remark": "{question} melden",
    "keys.remark_help": "{question} unklar, oder die {passages} geben keine Antwort",
    "keys.mine": "meine Bewertungen",
    "keys.mine_help": "Ihre Bewertungen ansehen und ändern",
    "keys.guideline": "Anleitung",
    "keys.guideline_help": "Anleitung und Skala",
    "keys.before_help": "frühere Bewertung mit ihren Markierungen übernehmen",
    "keys.told_help": "{passage} bewertet: was andere dazu sagen",
    "keys.name": "Name ändern",
    "keys.name_help": "unter einem anderen Namen bewerten",
    "keys.help": "alle Tasten",
    "keys.help_help": "alle Tasten und was sie tun",
    "keys.again": "Einige {passages} kommen zweimal; das zeigt, wie beständig Bewertungen sind.",
    "again.same": {
        "one": "{n} {passage} kam zweimal, mit gleicher Bewertung.",
        "other": "{n} {passages} kamen zweimal, alle mit gleicher Bewertung.",
    },
    "again.differs": {
        "one": "{n} {passage} kam zweimal, mit anderer Bewertung.",
        "other": "{n} {passages} kamen zweimal, {same} davon mit gleicher Bewertung.",
    },
    # wie weit es ist
    "progress.decided": "entschieden",
    "progress.decides": "noch etwa {n} bis zur Entscheidung",
    "progress.all": {
        "one": "{Question}: {n} {passage}",
        "other": "{Question}: alle {n} {passages}",
    },
    "progress.graded": "{done} von {all} bewertet",
    "progress.at": "{Passage} {at} von {all}",
    "progress.question_at": "{question} {at} von {all}",
    "progress.left": "noch {time}",
    "progress.left_at_pace": "noch {time} in Ihrem Tempo",
    "progress.in_question": "({question})",
    "progress.team": "{questions_in_all}: {done} erledigt, {mine} von Ihnen",
    "progress.team_left": (
        "{questions_in_all}: {done} erledigt, {mine} von Ihnen; noch {time} in Ihrem Tempo"
    ),
    # was zu bewerten ist
    "scope.split": "Teil = {split}",
    "scope.without_leaked": "ohne Leaks",
    "scope.only_leaked": "nur Leaks",
    "scope.which_split": "Welcher Teil",
    "scope.all_splits": "alle Teile",
    "scope.what": "Was zu bewerten ist",
    "scope.opening": "{passages}, die in der neuen Fassung ({recut}) noch offen sind",
    "scope.opening_of": "{passages}, die seit {old} in der neuen Fassung ({recut}) noch offen sind",
    "scope.only_opening": "nur {opening}",
    "scope.unnamed": "default",
    "scope.looking": "frühere Bewertungen werden geprüft: {percent} %",
    "scope.all_passages": "alle {passages}",
    "scope.all_questions": "alle {questions}",
    # was gespeichert ist, und was nicht
    "status.saved": "{n} gespeichert",
    "status.kept_offline": "offline: {n} hier gesichert, später gesendet",
    "status.kept_stuck": "Speichern gestört: {n} hier gesichert",
    "status.not_yet": "{n} noch nicht",
    "status.waiting": "{n} unterwegs",
    "status.refused": "{n} abgelehnt",
    "trouble.no_passages": "Der Server liefert gerade keine {passages}: {reason}.",
    "trouble.stuck": "Der Server kann gerade nicht speichern: {reason}. Es wird weiter versucht.",
    "trouble.shut_out": (
        "Der Server lehnt die Verbindung ab: {reason}. Ihre Bewertungen bleiben auf diesem Gerät."
    ),
    "trouble.refused": "Nicht gespeichert: {n}. Zuletzt: {reason}.",
    "trouble.at_risk": (
        "Der Speicher dieses Browsers ist voll: Lassen Sie die Seite offen, bis alles "
        "gespeichert ist (noch {n})."
    ),
    "trouble.unsafe": (
        "Dieser Browser kann nichts aufbewahren: Bei einem Absturz geht verloren, was nicht "
        "gespeichert ist."
    ),
    "trouble.renamed": (
        "Ungesendete Bewertungen auf diesem Gerät, früherer Name {name}: {n}. Gesendet wird beim "
        "nächsten Anmelden."
    ),
    "trouble.others": (
        "Ungesendete Bewertungen von {name} auf diesem Gerät: {n}. Gesendet wird beim nächsten "
        "Anmelden."
    ),
    "trouble.somebody": "jemand",
    "trouble.offline": "offline: Ihre Eingaben bleiben auf diesem Gerät",
    "trouble.stuck_now": "Speichern gestört: Ihre Eingaben bleiben auf diesem Gerät",
    "trouble.look": "Ansehen",
    "trouble.note": "Dieser Browser kann nichts aufbewahren: Notiz nicht gesichert",
    "trouble.away": "der Server ist nicht erreichbar",
    "trouble.fetch": "Laden fehlgeschlagen: {reason}. Ihre Bewertungen sind sicher.",
    "trouble.again": "Noch einmal",
    "trouble.not_fetched": "Laden fehlgeschlagen: {reason}.",
    "trouble.fetching": "Wird geladen …",
    # die Karte
    "card.to_grade": "{Passage} zum Bewerten",
    "card.fetching": "{Question} wird geladen …",
    "card.answer": "Eine gute Antwort",
    "card.about": "{question}: Hinweis",
    "card.every": "Für alle {questions}",
    "card.guideline": "Anleitung",
    "card.more": "mehr",
    "card.from": "aus {document}",
    "card.stale": "Text seit der Bewertung geändert",
    "card.news": "Neu: {question} · {n} für Sie",
    "card.new_question": "Neu, {question}: {text}",
    "card.copies": "{Passage} kommt {n}-mal vor; Ihre Bewertung gilt für alle {n}.",
    "card.copies_two": "{Passage} kommt zweimal vor; Ihre Bewertung gilt für beide.",
    "card.you_gave": "Ihre Bewertung: {grade}",
    "card.later": "Von Ihnen zurückgestellt",
    "card.undone": "zurückgenommen",
    "card.undone_was": "zurückgenommen (war {grade})",
    "card.before": "Text davor",
    "card.after": "Text danach",
    "card.beginning": "Hier beginnt das Dokument.",
    "card.end": "Hier endet das Dokument.",
    "card.no_text": "Der Text fehlt noch.",
    "card.tell": "was andere sagen",
    "card.read_on": "weiterlesen",
    "card.not_fetched": "… Laden fehlgeschlagen: {reason}",
    "card.below": {"one": "{n} weitere Zeile ↓", "other": "{n} weitere Zeilen ↓"},
    "card.code": "Code",
    "card.table": "Tabelle",
    "card.columns": "Zeilen ohne Umbruch",
    # was gefragt wird
    "panel.cancel": "abbrechen",
    "panel.close": "schließen",
    "panel.discard": "verwerfen",
    "panel.too_long": (
        "{over} Zeichen zu lang, möglich sind {most}. Nichts geht verloren; bitte kürzen."
    ),
    "reason.title": "Warum lässt es sich nicht beurteilen?",
    "reason.context": "Zusammenhang fehlt",
    "reason.field": "nicht mein Fachgebiet",
    "reason.broken": "Text fehlerhaft",
    "reason.none": "ohne Grund",
    "reason.other": "Anderer Grund",
    "reason.enter": "dann Eingabetaste",
    "reason.ok": "OK",
    "note.label": "Notiz",
    "note.help": "Eingabetaste speichert, mit Umschalt neue Zeile",
    "note.write": "Notiz schreiben",
    "note.save": "Speichern",
    "note.title": "Notiz: {passage}",
    "note.kept": "Notiz gesichert",
    "note.none": "Keine Notiz",
    "note.said": "Notiz: {note}",
    "note.waits": "Notiz: {note} (geht mit Ihrer Bewertung)",
    "note.too_long": "Notiz nicht gespeichert: {n} Zeichen zu lang",
    "note.not_saved": "Notiz noch nicht gespeichert",
    "remark.about": "{Question} insgesamt",
    "remark.note": "Notiz dazu (freiwillig)",
    "remark.said": "Ihre Meldung: {remark}",
    "remark.unanswered": "diese {passages} beantworten es nicht",
    "remark.unclear": "{question} unklar",
    "remark.withdrawn": "zurückgenommen",
    "remark.withdraw": "zurücknehmen",
    # was bewertet und was getan wurde
    "given.cannot_tell": "weiß nicht",
    "given.cannot_tell_because": "weiß nicht: {reason}",
    "given.graded": "bewertet",
    "given.you": "Zuletzt: {grade}",
    "given.by_others": "{n}-mal {grade}",
    "given.nobody_else": "sonst noch von niemandem bewertet",
    "given.by_no_run": "von keinem Suchlauf gefunden",
    "given.where": "{Passage} {chunk}",
    "given.where_of": "{Passage} {chunk} aus Dokument {document}",
    "given.proposed": "{grade} vorgeschlagen von {source}",
    "given.proposed_too": "{grade} von {source}",
    "event.undone": "Bewertung zurückgenommen.",
    "event.remark_undone": "Meldung zurückgenommen.",
    "event.remark": "Ihre Meldung: {remark}.",
    "event.given": "Ihre Bewertung: {grade}",
    "spoken.saved": "{said}, gespeichert",
    "spoken.kept": "{said}, aufbewahrt, bis Speichern möglich ist",
    "did.undone": "Zurückgenommen (war {step})",
    "did.undone_remark": "Zurückgenommen: „{step}“",
    "did.redone": "Wiederhergestellt: {step}",
    "did.nothing_to_undo": "Nichts zurückzunehmen",
    "did.nothing_to_redo": "Nichts wiederherzustellen",
    "did.not_fetched": "Ihre früheren Bewertungen lassen sich gerade nicht laden",
    "did.first": "Hier ist der Anfang",
    "did.last": "Mehr gibt es bisher nicht",
    "did.graded_already": "{Passage} schon bewertet",
    "did.only_one": "Keine weiteren {passages} offen",
    "did.later": "Zurückgestellt",
    "did.no_passage": "Gerade sind keine {passages} zu sehen",
    "did.highlighted": "{Question}: Wörter im Text hervorgehoben",
    "did.not_highlighted": "Nichts hervorgehoben",
    "did.grade_first": "Bewerten Sie erst selbst: Andere sollen Sie nicht beeinflussen",
    "did.other_tab": "in Ihrem anderen Tab bewertet",
    "did.not_in_practice": "Nicht im Beispiel",
    # Belege
    "marks.name": "Beleg",
    "marks.marked": {"one": "Beleg markiert", "other": "Beleg an {n} Stellen markiert"},
    "marks.none": "Nichts markiert",
    "marks.wait": "geht mit Ihrer Bewertung",
    "marks.lost": "im früheren Text markierter Beleg nicht mehr zu finden",
    "marks.ask": "Auf welchen Worten beruht das? K, dann E",
    "marks.unmarked": "Die Bewertung ist gespeichert, der Beleg nicht: {reason}",
    "marks.room": "Höchstens {n} Markierungen je Text",
    "marks.nothing": "Hier gibt es nichts zu markieren",
    "marks.keys": "J und K gehen von Satz zu Satz, die Leertaste markiert, E beendet.",
    "marks.sentence_marked": "Satz {at} von {all}, markiert",
    "marks.sentence": "Satz {at} von {all}, nicht markiert",
    "marks.aimed_marked": "markiert: {words}",
    "marks.aimed": "nicht markiert: {words}",
    "marks.take": "als Beleg markieren",
    "marks.drop": "Markierung entfernen",
    "marks.previous": "voriger Satz",
    "marks.next": "nächster Satz",
    "marks.this": "diesen Satz markieren",
    "marks.not_this": "Markierung entfernen",
    "marks.done": "fertig",
    # Listen
    "list.name": "{Question}: alle {passages}",
    "list.one": "{passages} einzeln",
    "list.next": "weiter: {question}",
    "list.move": "bewegen",
    "list.fetching": "Die {passages} werden geladen …",
    "list.fetching_more": "Weitere {passages} werden geladen …",
    "list.nothing": "{Question}: noch keine {passages} lesbar.",
    "list.more": "Mehr zeigen: noch {n}",
    "list.progress": "{graded} von {all} bewertet · {left} offen",
    "list.all": {"one": "{n} bewertet", "other": "alle {n} bewertet"},
    "list.all_graded": {"one": "{n} bewertet", "other": "Alle {n} bewertet"},
    "list.differs": "{Passage} unterscheidet sich vom Text darüber",
    "list.above_open": "Der Text darüber ist noch nicht bewertet",
    "list.nothing_to_undo": "Hier gibt es nichts zurückzunehmen",
    "row.grade": "{title} bewerten",
    "row.grade_this": "{passage} bewerten",
    "row.as_above": "wie der Text darüber",
    "row.not_graded": "offen",
    "row.pooled": "ohnehin zu bewerten",
    "row.by_hand": "selbst gefunden",
    "row.by_hand_saved": "selbst gefunden, gespeichert",
    "row.copies": "{n} Kopien",
    "row.stale": "Text seit der Bewertung geändert",
    "row.twin": "fast wie der Text darüber",
    "find.name": "{passage} suchen",
    "find.help": "{Question}: weitere {passages} suchen.",
    "find.words": "{passage}: Wörter aus Text oder Titel",
    "find.back": "zurück",
    "find.nothing": "Keine Treffer. Versuchen Sie weniger oder andere Wörter.",
    "find.found": {
        "one": "{n} Treffer. Mit ↓ hingehen und bewerten.",
        "other": "{n} Treffer, die besten zuerst. Mit ↓ hingehen und bewerten, was relevant ist.",
    },
    "mine.title": "Meine Bewertungen",
    "mine.which": "Welche Bewertungen",
    "mine.back": "zurück zum Bewerten",
    "mine.fetching": "Ihre Bewertungen werden geladen …",
    "mine.more": "Mehr zeigen: {n} ältere",
    "mine.none_so": "Keine Ihrer Bewertungen ist von dieser Art.",
    "mine.none": "Sie haben noch nichts bewertet.",
    "mine.all": "alle",
    "mine.note": "mit Notiz",
    "mine.later": "zurückgestellt",
    # Fenster
    "sheet.name": "Fenster",
    "sheet.close": "schließen",
    "sheet.scale": "Die Skala",
    "refused.title": "Abgelehnt",
    "refused.none": "Alles ist gespeichert.",
    "refused.help": (
        "Das wurde nicht gespeichert. Es bleibt hier, bis Sie es noch einmal senden oder verwerfen."
    ),
    "refused.untitled": "{passage} ohne Titel",
    "refused.mine": "Meine Bewertung verwenden",
    "refused.again": "Noch einmal",
    "refused.discard": "Verwerfen",
    "refused.because": "Grund: {reason}",
    "refused.stands": "Es gilt: {grade}",
    # was vor einer neuen Zerlegung der Dokumente galt
    "before.likely": "Wahrscheinliche Bewertung",
    "before.given": "Frühere Bewertungen",
    "before.take": "{grade} übernehmen",
    "before.take_marked": "{grade} mit den Markierungen übernehmen",
    "before.take_marks": "Markierungen übernehmen",
    "before.nothing": "Frühere Bewertungen gibt es hier nicht",
    "before.no_grade": "Aus früheren Bewertungen folgt keine: Bitte bewerten Sie",
    "before.is_likely": "wahrscheinlich: {why}",
    "before.not_likely": "offen: {why}",
    "before.why": "nach Bewertungen und Markierungen in Texten, die sich überschneiden",
    "before.more": "und {n} weitere",
    "before.marked": "[früher markiert, {signs}:",
    "before.told": "{who}: {grade}, am {day}",
    "before.told_for": "{who}: {grade}, am {day}, wegen {words}",
    "before.file": "aus einer Datei",
    "before.and": "{these} und {those}",
    "before.these_cut": "der so markierten Worte, die hinter diesem Text weitergehen",
    "before.these": "der so markierten Worte",
    "before.words_elsewhere": "Worten, die nicht in diesem Text stehen",
    "before.others_elsewhere": "anderer, die nicht in diesem Text stehen",
    "before.words_lost": "Worten, die nicht mehr zu finden sind",
    "before.others_lost": "anderer, die nicht mehr zu finden sind",
    # erster Besuch, Beispiel und Ende
    "welcome.name": "Willkommen",
    "welcome.title": "Willkommen, {name}",
    "welcome.invited": (
        "{inviter} bittet Sie, {passages} für {golden_set} zu bewerten. Sie lesen {question} und "
        "{passage}; eine Taste oder ein Tippen sagt, wie relevant der Text ist."
    ),
    "welcome.task": (
        "Hier bewerten Sie {passages} für {golden_set}. Sie lesen {question} und {passage}; eine "
        "Taste oder ein Tippen sagt, wie relevant der Text ist."
    ),
    "welcome.how": (
        "Schwanken Sie zwischen zwei Stufen, nehmen Sie die niedrigere. Jede Bewertung wird sofort "
        "gespeichert, und jede lässt sich zurücknehmen."
    ),
    "welcome.start": "Beginnen",
    "welcome.practise": "An einem Beispiel üben",
    "welcome.contact": "Fragen? Wenden Sie sich an {contact}",
    "welcome.size": "{size}: insgesamt {time}. Sie können jederzeit unterbrechen.",
    "welcome.both": "{questions_in_all} und {passages_in_all}",
    "welcome.about": "etwa {passages_in_all}",
    "practice.stop": "Übung beenden",
    "practice.nothing_saved": "Übung: Hier wird nichts gespeichert.",
    "practice.ended": "Das war das letzte Beispiel; nichts davon wurde gespeichert.",
    "practice.same": "Ihre Bewertung: {grade}. Wir sehen es genauso: {why}.",
    "practice.other": "Ihre Bewertung: {grade}. Wir hätten {ours} gegeben: {why}.",
    "practice.question": "Brauche ich im Zug eine Fahrkarte für meinen Hund?",
    "practice.answer": (
        "Hunde in einer Transportbox fahren kostenlos mit; für alle anderen gilt der halbe Preis."
    ),
    "practice.title_0": "Fahrräder",
    "practice.text_0": (
        "Für ein Fahrrad brauchen Sie eine eigene Fahrkarte; sie kostet 6 Euro am Tag. Im Juli und "
        "August reservieren Sie außerdem einen Stellplatz, spätestens am Vorabend."
    ),
    "practice.why_0": "es geht um Fahrkarten, aber für Fahrräder",
    "practice.title_3": "Reisen mit Tieren",
    "practice.text_3": (
        "Hunde in einer Transportbox fahren kostenlos mit. Für alle anderen zahlen Sie die Hälfte "
        "Ihres Fahrpreises und führen sie an der Leine. Blindenhunde fahren immer kostenlos."
    ),
    "practice.why_3": "beantwortet die Frage, für kleine und große Hunde",
    "practice.title_1": "Im Speisewagen",
    "practice.text_1": (
        "Hunde dürfen nicht in den Speisewagen, Blindenhunde ausgenommen. Reisen Sie allein mit "
        "Hund, bringt Ihnen unser Personal die Bestellung an den Platz."
    ),
    "practice.why_1": "es geht um Hunde im Zug, aber nicht um Fahrkarten",
    "practice.title_2": "Kleine Haustiere",
    "practice.text_2": (
        "Ein Haustier in einer Transportbox braucht keine Fahrkarte. Für größere Tiere gelten die "
        "Bedingungen in Ihrer Buchung."
    ),
    "practice.why_2": "beantwortet die Frage nur für kleine Hunde",
    "done.decided": "Entschieden",
    "done.fetching": "Weitere {passages} werden geladen …",
    "done.no_text": "Noch keine {passages} lesbar",
    "done.nothing": "Gerade gibt es nichts zu bewerten",
    "done.part": "Dieser Teil ist geschafft. Danke, {name}.",
    "done.all": "Geschafft. Danke, {name}.",
    "done.offline": (
        "Die nächsten {passages} kommen, sobald die Verbindung wieder steht. Ihre Bewertungen sind "
        "sicher."
    ),
    "done.keep_open": {
        "one": "Lassen Sie diese Seite offen: {n} Bewertung wird noch gesendet.",
        "other": "Lassen Sie diese Seite offen: {n} Bewertungen werden noch gesendet.",
    },
    "done.saved": "Alles ist gespeichert. Sie können die Seite schließen.",
    "done.no_more_needed": "Das ist entschieden; mehr Bewertungen braucht es nicht.",
    "done.without_texts": {
        "one": "Zu {n} {passage} fehlt noch der Text.",
        "other": "{n} {passages} sind noch ohne Text.",
    },
    "done.tell": "Bitte sagen Sie {whom} Bescheid.",
    "done.load": "Texte laden",
    "done.inviter": "der Person, die Sie eingeladen hat",
    "done.others_open": (
        "Weitere {questions} sind vielleicht noch offen: siehe „alle {questions}“, oben."
    ),
    "done.more_to_come": "Sobald neue {questions} dazukommen, geht es hier weiter.",
    "done.did": "Bewertet: {passages_in_all}, {questions_in_all}",
    "done.did_in": "Bewertet: {passages_in_all}, {questions_in_all}, in {time}",
    "done.cannot_tell": "{n}-mal „weiß nicht“",
    "done.verdict": "Ergebnis auf Compare ansehen",
    "done.look_through": "Meine Bewertungen ansehen",
    "done.undo_last": "Letzte zurücknehmen",
    # Seiten vom Server: Anmeldung, Einladung, und was nicht ging
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
    "sign_in.task": (
        "Sie lesen {question} und {passage}; eine Taste oder ein Tippen sagt, wie relevant der "
        "Text ist."
    ),
    "sign_in.as": (
        "Nicht {name}? Bitten Sie die Person, von der der Link kommt, um einen eigenen."
    ),
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
    "page.open_again": "Diese Seite noch einmal öffnen",
    # warum der Server etwas nicht angenommen hat
    "api.changed_elsewhere": "inzwischen in einem anderen Tab oder Gerät bewertet ({reason})",
    "api.expired": "die Seite wird gleich neu berechtigt ({reason})",
    "api.forbidden": "kein Zugang, fragen Sie die Person, die Sie eingeladen hat ({reason})",
    "api.storage": "der Speicher des Servers ist gestört ({reason})",
    "api.busy": "der Server ist gerade ausgelastet ({reason})",
    "api.other": "{reason}",
    "api.too_much": (
        "mehr als {n} Bytes in einer Minute; der Betreiber dieses Servers kann das erhöhen "
        "(labeler serve --bytes-per-minute)"
    ),
}
