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
