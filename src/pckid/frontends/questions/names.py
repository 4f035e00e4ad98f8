"""The words of a column's name, without capitals and accents: hospitalID is "hospital", "id"."""

import re
import unicodedata


def list_words(words: str) -> frozenset[str]:
    """List words with blanks between them."""
    return frozenset(words.split())


IDS = list_words(
    "id ids uid uuid guid key zip zipcode plz postcode postal postleitzahl cp cap fips geoid cusip "
    "isin ssn isbn kennung kennnummer identifier identificador identifiant"
)
"""What names of ids hold."""
EVENTS = list_words(
    "outcome outcomes event death died dead dies deceased mortality survived survivor survival "
    "alive surv live censor censored censoring cens relapse relapsed recurrence recurred recur "
    "recidiv exitus exit exitstat exitcode vital readmitted readmission churn churned attrition "
    "default defaulted fail failed failure progression endpoint fate status cause tod verstorben "
    "gestorben uberlebt uberleben rezidiv deces decede survie rechute muerte fallecido "
    "fallecimiento supervivencia recaida morte morto deceduto decesso sopravvivenza recidiva obito "
    "sobrevida sterfte overleden zgon nawrot smrt smert"
)
"""What names of events hold that come after all else was measured."""
CLASSES = list_words("class label target diagnosis dx response y klasse clase etichetta diagnose")
"""Names of known groups, alone or at the end."""
FOLLOW_UPS = list_words(
    "time times futime fu followup survtime survdays survmonths surv survival os pfs dfs efs rfs "
    "tod tox los days months weeks stop tstop exit tage monate dauer duree jours mois dias meses"
)
"""What names of the time until an event hold."""
CASES = list_words(
    "patient patients pat subject subjects subj participant proband person persona personne case "
    "fall kunde kundin customer client cliente user member pupil student child kind paciente "
    "sujeto sujet animal plant tree firm company country county state household haushalt hogar"
)
"""What names of cases hold that are seen several times."""
TIMES = list_words(
    "time date day days hour minute second week weeks month months mon year years yr timestamp "
    "datetime visit wave period quarter session occasion followup fu round trial semester step "
    "epoch when datum tag tage woche monat jahr stunde zeit besuch welle fecha dia semana mes ano "
    "hora visita jour semaine mois annee heure temps visite giorno settimana mese anno ora data"
)
"""What names of times hold at which a case was seen."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+")


def split_name(name: str) -> list[str]:
    """Split a name into its words: "hospitalID" and "Hospital id" are "hospital", "id"."""
    letters = unicodedata.normalize("NFKD", name)
    plain = "".join(sign for sign in letters if not unicodedata.combining(sign))
    return [word.lower() for word in _WORDS.findall(plain)]
