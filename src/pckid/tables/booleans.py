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
# Letters of one pair of words: "t" beside "y" and "n" is a third answer.
_LETTERS = [frozenset(pair) for pair in ("yn", "tf", "jn", "on", "vf", "sn")]


def are_booleans(texts: Collection[str]) -> bool:
    """Tell whether different texts all mean yes or no, and both are among them.

    Words may be those of several languages, letters only those of one pair of words.
    """
    words = {text.lower() for text in texts}
    letters = words & set("ynftjovs")
    one_pair = any(letters <= pair for pair in _LETTERS)
    return one_pair and words <= _YES | _NO and bool(words & _YES) and bool(words & _NO)


def unify_answers(texts: Collection[str]) -> dict[str, str]:
    """Write yes and no in one way where a column writes them in several, such as Yes, y and TRUE.

    Returns the category of each text. A column with one text for each keeps them.
    """
    distinct = set(texts)
    if not 2 < len(distinct) < 100 or not are_booleans(distinct):
        return {text: text for text in distinct}
    return {text: answer_of(text) for text in distinct}


def answer_of(text: str) -> str:
    """Tell whether a text means yes or no; "" for other texts."""
    word = text.strip().lower()
    return "yes" if word in _YES else "no" if word in _NO else ""
