"""The words dates are made of: names of months and weekdays, units, numbers, as folded tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from memolith.text.calendar_days import Unit


def _numbered(names: str, first: int) -> dict[str, int]:
    """Names in order; those between slashes are the same thing."""
    groups = enumerate(names.split(), start=first)
    return {name: number for number, group in groups for name in group.split("/")}


MONTHS = _numbered(
    "january/enero/janeiro/janvier/januar/gennaio february/febrero/fevereiro/fevrier/februar/febbraio "
    "march/marzo april/abril/avril/aprile may/mayo/maio/maggio "
    "june/junio/junho/juin/giugno july/julio/julho/juillet/luglio "
    "august/agosto/aout september/septiembre/setiembre/setembro/septembre/settembre "
    "october/octubre/outubro/octobre/oktober/ottobre "
    "november/noviembre/novembro/novembre december/diciembre/dezembro/decembre/dezember/dicembre",
    first=1,
)
# `ago` and `set` are left out: three days ago, a set of plates.
SHORT_MONTHS = _numbered(
    "jan/ene feb mar apr/abr may jun jul aug sep/sept oct nov dec/dic", first=1
)
WEEKDAYS = _numbered(
    "monday/lunes tuesday/martes wednesday/miercoles thursday/jueves friday/viernes "
    "saturday/sabado sunday/domingo",
    first=0,
)
SHORT_WEEKDAYS = _numbered("mon tue/tues wed/weds thu/thur/thurs fri sat sun", first=0)

# Words of other use, which count as dates only with a reason: a capital, or a word before them.
SHY = frozenset({"march", "may", "mar"})
REASONS = frozenset(
    "in on during since until till before after from between by of early late mid last next".split()
)
# Names of people too, after words that go with people: the mail from April, la casa de Julio.
ALSO_NAMES = frozenset({"april", "june", "may", "julio", "abril"})
BEFORE_NAMES = frozenset({"from", "for", "by", "of", "to", "and", "de", "del", "a", "y"})
# A day is written small in Spanish; with a capital it is somebody, unless an article says otherwise.
SURNAMES = frozenset({"domingo"})
BEFORE_DAYS = frozenset("el al del este pasado proximo desde hasta sabado".split())
# … and these only with the capital: the sun is out, we sat, they wed.
NEEDS_CAPITAL = frozenset({"mon", "sun", "sat", "wed"})

UNITS = {
    "hour": Unit.HOUR, "hora": Unit.HOUR, "day": Unit.DAY, "dia": Unit.DAY,
    "night": Unit.DAY, "noche": Unit.DAY,
    "week": Unit.WEEK, "semana": Unit.WEEK, "month": Unit.MONTH, "mes": Unit.MONTH,
    "quarter": Unit.QUARTER, "trimestre": Unit.QUARTER, "year": Unit.YEAR, "ano": Unit.YEAR,
}  # fmt: skip
MANY_UNITS = {
    **{f"{name}s": unit for name, unit in UNITS.items() if name != "mes"},
    "meses": Unit.MONTH,
}

NUMBERS = _numbered(
    "a/an/one/un/una/uno two/dos three/tres four/cuatro five/cinco six/seis seven/siete "
    "eight/ocho nine/nueve ten/diez eleven/once twelve/doce thirteen/trece fourteen/catorce "
    "fifteen/quince sixteen/dieciseis seventeen/diecisiete eighteen/dieciocho nineteen/diecinueve",
    first=1,
)
TENS = {
    name: 10 * tens
    for name, tens in _numbered(
        "twenty/veinte thirty/treinta forty/cuarenta fifty/cincuenta sixty/sesenta seventy/setenta "
        "eighty/ochenta ninety/noventa",
        first=2,
    ).items()
}
# Days of a month, said in words: the second of May, el dos de mayo.
DAY_NAMES = _numbered(
    "first/uno second/dos third/tres fourth/cuatro fifth/cinco sixth/seis seventh/siete eighth/ocho "
    "ninth/nueve tenth/diez eleventh/once twelfth/doce thirteenth/trece fourteenth/catorce "
    "fifteenth/quince sixteenth/dieciseis seventeenth/diecisiete eighteenth/dieciocho "
    "nineteenth/diecinueve twentieth/veinte veintiuno veintidos veintitres veinticuatro veinticinco "
    "veintiseis veintisiete veintiocho veintinueve thirtieth/treinta",
    first=1,
)
SEASONS = _numbered("spring/primavera summer/verano autumn/otono winter/invierno", first=0)
FEW = 5  # «a few days», «unos días»: rather too long than too short
ORDINALS = _numbered("first/primero/primer/primera/1ro second/segundo/segunda third/tercero/tercer/tercera "
                     "fourth/cuarto/cuarta", first=1)  # fmt: skip

WORDS: Mapping[str, Mapping[str, int]] = {
    "n": {
        **NUMBERS,
        **TENS,
        **{name: DAY_NAMES[name] for name in DAY_NAMES if name[:6] == "veinti"},
    },
    "tens": TENS,
    "digit": {name: number for name, number in NUMBERS.items() if number < 10},
    "day-name": DAY_NAMES,
    "digit-name": {name: number for name, number in DAY_NAMES.items() if number < 10},
    "nth": ORDINALS,
    "unit": {**UNITS, **MANY_UNITS},
    "units": MANY_UNITS,
    "weekday": WEEKDAYS,
    "any-weekday": {**WEEKDAYS, **SHORT_WEEKDAYS},
    "weekdays": {
        **{name if name.endswith("es") else f"{name}s": day for name, day in WEEKDAYS.items()},
    },
    "season": SEASONS,
    "any-season": {**SEASONS, "fall": SEASONS["autumn"]},
    "seasons": {f"{name}{'es' if name.endswith('on') else 's'}": n for name, n in SEASONS.items()},
    "month": MONTHS,
    "any-month": {**MONTHS, **SHORT_MONTHS},
    # A full stop after a month in full ends a sentence, and `may` is short for nothing.
    "dotted-month": {name: number for name, number in SHORT_MONTHS.items() if name != "may"},
    "clear-month": {name: number for name, number in MONTHS.items() if name not in SHY},
    "day": {"first": 1, "primero": 1},
}


_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th|º|o|a|°|er|ro)?")


def _day(text: str) -> int | None:
    if found := _DAY.fullmatch(text):
        return int(found[1]) if 1 <= int(found[1]) <= 31 else None
    return WORDS["day"].get(text)


def _ordinal(text: str) -> int | None:
    return None if text.isdigit() else _day(text)


def _two_days(text: str) -> int | None:
    first, _, last = text.partition("-")
    one, other = _day(first), _day(last)
    return one * 100 + other if one and other and one < other else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 5 else WORDS["n"].get(text)


def _week_number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 3 and 1 <= int(text) <= 53 else None


def _between(low: int, high: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        is_number = text.isdecimal() and len(text) == len(str(high))
        return int(text) if is_number and low <= int(text) <= high else None

    return read


# What the classes of a phrase read, and the value of each word; None if it is not one of them.
CLASSES: Mapping[str, Callable[[str], int | None]] = {
    **{name: words.get for name, words in WORDS.items()},
    "n": _number,
    "day": _day,
    "ordinal": _ordinal,
    "day-day": _two_days,
    "quarter": _between(1, 4),
    "half": _between(1, 2),
    "week-number": _week_number,
    "year": _between(1900, 2099),
}
