"""The verdict of every kind of Assessment in words, with its notes; no sentence is left unsaid."""

import os
from pathlib import Path

from unsaid import watching
from verdicts import SHORT, VERDICTS

from pckid.say import notes, verdict


def test_verdicts_in_words():
    """Compare with tests/golden/verdicts.txt, which `UPDATE=1` in the environment writes anew."""
    written = "".join(
        f"{name}\n    {verdict!r}\n" + "".join(f"    - {note}\n" for note in verdict.notes)
        for name, verdict in VERDICTS.items()
    )
    golden = Path(__file__).parents[1] / "golden" / "verdicts.txt"
    if os.environ.get("UPDATE"):
        golden.write_text(written, "utf-8")
    assert written == golden.read_text("utf-8")


def test_every_sentence_is_said_of_some_assessment():
    with watching(notes, verdict) as unsaid:
        for found in [*VERDICTS.values(), *SHORT.values()]:
            assert found.sentence in repr(found)
            assert all(isinstance(note, str) for note in found.notes)
            verdict.mark_verdict(found)
            verdict.is_about_groups(found)
            verdict.write_headline(found, found.n_clusters)
            verdict.write_finding(found, found.n_clusters)
            verdict.write_reason(found)
    assert not unsaid, "VERDICTS lacks an Assessment of which this is said:\n" + "\n".join(unsaid)
