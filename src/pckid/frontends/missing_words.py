"""Words for missing, in all formats: what cells hold where there is no value."""

MISSING_TOKENS = (
    "", "NA", "N/A", "#N/A", "#NA", "<NA>", "NaN", "-NaN", "null", "none", "nil", "missing", "?",
    ".", "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}", "...", "(null)",
    r"\N", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NV", "#WERT!", "#BEZUG!",
    "#ZAHL!", "#N/D", "#VALEUR!", "#NOMBRE!", "#VALORE!", "#VALOR!", "#Ñ/D", "n.a.", "n. a.",
    "not available", "not applicable", "no data", "k.A.", "k. A.", "keine Angabe",
    "keine Angaben", "nicht verfügbar", "fehlt", "fehlend", "n/d",
    "non disponible", "non renseigné", "non renseignée", "manquant", "s/d", "sin dato",
    "sin datos", "no disponible", "non disponibile", "mancante", "não disponível",
    "não informado", "sem dados", "n.v.t.", "niet beschikbaar", "geen gegevens", "saknas",
    "ej tillgänglig", "brak danych", "нет данных",
)  # fmt: skip
"""Cells that mean "missing", whatever their case and the blanks around them."""
MISSING_TEXTS = frozenset(token.strip().lower() for token in MISSING_TOKENS)
WORDS = ("none", "nil", "-")
"""Those among them that are values in a column of texts, such as no alcohol at all."""
_NO_ANSWERS = frozenset((
    "refused", "refuse", "refusal", "refused to answer", "no answer", "not answered",
    "no response", "did not answer", "dont know", "do not know", "dk", "dk/na",
    "dont know/refused", "not stated", "not ascertained", "not asked", "prefer not to say",
    "prefer not to answer", "unknown", "weiß nicht", "weiss nicht", "keine antwort", "verweigert",
    "unbekannt", "ne sait pas", "refus", "refusé", "sans réponse", "inconnu", "no sabe",
    "no contesta", "ns/nc", "desconocido", "non sa", "non risponde", "sconosciuto", "não sabe",
    "não respondeu", "desconhecido", "weet niet", "geen antwoord", "onbekend", "vet ej", "okänd",
    "nie wiem", "odmowa",
))  # fmt: skip


def is_no_answer(text: str) -> bool:
    """Whether a text says that a question was not answered: "Don't know", "refused"."""
    plain = text.casefold().replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", "")
    letters = "".join(sign if sign.isalnum() or sign == "/" else " " for sign in plain)
    return " ".join(letters.split()) in _NO_ANSWERS
