"""Yes and no in several languages."""

from collections.abc import Collection

_YES = frozenset({
    "y", "yes", "true", "t", "ja", "j", "wahr", "oui", "o", "vrai", "v", "sí", "si", "s",
    "verdadero", "sim", "verdadeiro", "sì", "vero", "tak", "ano", "evet", "kyllä", "igen", "да",
    "是", "はい", "हाँ", "نعم",
})  # fmt: skip
_NO = frozenset({
    "n", "no", "false", "f", "nein", "falsch", "non", "faux", "falso", "não", "nao", "nie", "ne",
    "hayır", "ei", "nee", "nej", "nem", "нет", "否", "いいえ", "नहीं", "لا",
})  # fmt: skip


def are_booleans(texts: Collection[str]) -> bool:
    """Tell whether different texts all mean yes or no, and both are among them."""
    words = {text.lower() for text in texts}
    return words <= _YES | _NO and bool(words & _YES) and bool(words & _NO)


def unify_booleans(cells: list[str | None]) -> list[str | None]:
    """Write yes and no in one way where a column writes them in several, such as Yes, y and TRUE.

    A column with one text for each keeps them.
    """
    distinct = {cell for cell in cells if cell is not None}
    if not 2 < len(distinct) < 100 or not are_booleans(distinct):
        return cells
    answers = {cell: "yes" if cell.lower() in _YES else "no" for cell in distinct}
    return [None if cell is None else answers[cell] for cell in cells]
