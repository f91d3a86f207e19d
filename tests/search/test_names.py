"""A name is a name: it is not translated, and what holds it comes first."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memolith import Memory

# Most of these are words as well, in English or Spanish; days, such as April and June, are left out.
NAMES = """Maria Marta Clara Rosa Dolores Mercedes Pilar Julia Marco Mario Marina Carmen Salvador Blanca Esperanza
Tomás Olivia Sara Mark Will Grace Rose Bill May Hope Joy Faith Frank Jack Ivy Iris Ruth Dawn Amber Victor Angel Luz
Paz Sol Consuelo Ángeles Priya Nakamura Wei Okafor Bjorn Yusuf Leila Ana Emil""".split()
PLACES = (
    "at the post office,at the hospital,in a bakery,at a bank,at the school,in the harbour".split(
        ","
    )
)
OTHERS = """On Tuesday the shop is closed;El martes hay reunión de vecinos;My husband likes the sea;Mi marido llega tarde
The light in the hall is broken;La luz del pasillo no funciona;Compramos rosas para la mesa;La mesa blanca es nueva
No hay esperanza de sol;El pilar del garaje tiene una grieta;El agua clara del río;The water of the river is clear
We will mark the date in May;The bill is due in June;The market is open;The sea was cold;El mar estaba frío
There is hope for rain in April;She rose early and may be late;I hope the joy lasts;In faith and grace
At dawn the amber light fades;The victory was ours;El ángel de la fuente;Quiero paz y silencio;Hace sol;The ivy grows
The iris of the camera;Tomorrow we go to the marina;Los dolores de cabeza siguen;El salvador del gato;A white table
Frankly, it was bad;He jacked up the car;ruthless prices;the angles are wrong;roses for mother"""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    memory = Memory(tmp_path_factory.mktemp("people"))
    memory.remember_many(
        [f"{name} works {PLACES[number % len(PLACES)]}" for number, name in enumerate(NAMES)]
    )
    memory.remember_many(OTHERS.replace("\n", ";").split(";"))
    return memory


@pytest.mark.parametrize(
    "written", [str, str.lower, str.upper, "who is {}?".format], ids=["Name", "name", "NAME", "who"]
)
def test_a_question_of_one_name_finds_who_has_it(
    people: Memory, written: Callable[[str], str]
) -> None:
    assert len(NAMES) == 50
    missed = [
        name
        for name in NAMES
        if not people.search(written(name), 3).hits[0].text.startswith(f"{name} ")
    ]
    assert len(missed) <= 2, missed


@pytest.mark.parametrize(
    "question", ["where does marta work", "Where does Marta work?", "WHERE DOES MARTA WORK"]
)
def test_a_capital_letter_does_not_decide(people: Memory, question: str) -> None:
    assert people.search(question).hits[0].text.startswith("Marta ")
