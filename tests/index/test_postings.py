"""Words to chunks: BM25 against a plain reference."""

from __future__ import annotations

import math
import random
from collections import Counter

import numpy as np
import pytest

from memolith.index import matches
from memolith.index.matches import CommonTerms, Matches
from memolith.index.postings import K1, B, Postings, pack_terms, term_hash, unpack_terms
from memolith.text.terms import term_counts

VOCABULARY = [f"word{number}" for number in range(60)]


def texts(count: int) -> list[Counter[str]]:
    chance = random.Random(5)
    return [
        Counter(chance.choices(VOCABULARY, weights=range(1, 61), k=chance.randrange(5, 60)))
        for _ in range(count)
    ]


def bm25(documents: list[Counter[str]], query: list[str]) -> list[float]:
    average = sum(document.total() for document in documents) / len(documents)
    scores = [0.0] * len(documents)
    for word in query:
        holding = sum(word in document for document in documents)
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for at, document in enumerate(documents):
            often = document[word]
            saturation = K1 * (1 - B + B * document.total() / average)
            scores[at] += idf * often * (K1 + 1) / (often + saturation)
    return scores


def hashes(*terms: str) -> np.ndarray:
    return np.array([term_hash(term) for term in terms], "<u8")


def score(postings: Postings, words: list[dict[str, float]]) -> np.ndarray:
    terms = sorted({term for word in words for term in word})
    numbered = [[(terms.index(term), weight) for term, weight in word.items()] for word in words]
    size = len(postings.lengths)
    stale = np.arange(size, dtype=np.int32)  # what a search before has left there
    scores = Matches(postings, hashes(*terms)).scores(numbered, stale)
    return scores.of(np.arange(size))


def scores_of(documents: list[Counter[str]], query: list[str]) -> np.ndarray:
    postings = Postings.build([pack_terms(document) for document in documents])
    words = []
    for word in query:
        holding = int(postings.frequencies(hashes(word))[0][0])
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        words.append({word: idf})
    return score(postings, words)


def test_scores_are_those_of_bm25_within_the_rounding_of_one_byte() -> None:
    documents = texts(400)
    query = ["word3", "word17", "word40"]
    wanted = np.array(bm25(documents, query))
    assert scores_of(documents, query) == pytest.approx(wanted, abs=0.02 * wanted.max())


def test_the_known_best_document_comes_first() -> None:
    documents = [*texts(300), Counter({"heron": 2, "word1": 1}), Counter({"heron": 1, "word2": 40})]
    assert int(np.argmax(scores_of(documents, ["heron"]))) == 300


def test_of_several_terms_for_one_word_only_the_best_counts() -> None:
    documents = [Counter(a=1), Counter(b=1), Counter(a=1, b=1)]
    postings = Postings.build([pack_terms(document) for document in documents])
    both = score(postings, [{"a": 2.0, "b": 1.0}])
    alone = score(postings, [{"a": 2.0}])
    assert both[2] == alone[2]
    assert both[0] > both[1] > 0


@pytest.mark.parametrize("many", [0.0, 0.2, math.inf])
def test_common_terms_are_scored_and_found_as_others_are(
    many: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "_MANY", many)
    documents = texts(400)
    postings = Postings.build([pack_terms(document) for document in documents])
    asked = ["word0", "word59", "nowhere", "word30"]  # a rare one, a common one, an unknown one
    words = [{"word59": 1.0, "word0": 2.0}, {"word30": 1.0}, {"nowhere": 1.0}]
    alone = [score(postings, [word]) for word in words]
    assert score(postings, words) == pytest.approx(sum(alone))
    found = Matches(postings, hashes(*asked))
    assert found.has_common_terms == (many < 1)
    rows = np.arange(0, 400, 3)
    some = found.at(np.flatnonzero(np.isin(found.rows, rows)))
    both = matches.together([some, found.common_among(rows)])
    assert set(zip(*(part.tolist() for part in both), strict=True)) == {
        (number, row, documents[row][term])
        for number, term in enumerate(asked)
        for row in rows.tolist()
        if term in documents[row]
    }


def test_common_terms_of_earlier_questions_are_known_and_only_the_last_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matches, "_MANY", 0.0)
    monkeypatch.setattr(matches, "_MOST_KEPT", 3)
    postings = Postings.build([pack_terms(document) for document in texts(400)])
    kept, rows = CommonTerms(), np.arange(400)
    for _ in range(2):
        for first in range(30, 60, 4):
            terms = hashes(*(f"word{first + number}" for number in range(4)))
            asked = [[(0, 1.0), (1, 2.0)], [(2, 0.5)], [(3, 3.0)]]
            again, anew = (
                Matches(postings, terms, room).scores(asked, np.zeros(400, np.int32))
                for room in (kept, None)
            )
            assert again.of(rows).tolist() == anew.of(rows).tolist()
            assert len(kept._kept) == 3


def test_the_best_rows_are_those_with_the_best_scores_that_are_allowed() -> None:
    documents = texts(400)
    postings = Postings.build([pack_terms(document) for document in documents])
    found = Matches(postings, hashes("word59", "word3"))
    scores = found.scores([[(0, 1.0)], [(1, 3.0)]], np.zeros(400, np.int32))
    everything = scores.of(np.arange(400))
    assert set(scores.best(400, None).tolist()) == set(np.flatnonzero(everything).tolist())
    allowed = np.arange(400) % 3 == 0
    least = np.sort(everything[allowed])[-20]
    best = scores.best(20, allowed)
    assert len(set(best.tolist())) == 20
    assert allowed[best].all()
    assert (everything[best] >= least).all()
    assert scores.best(0, None).tolist() == []


def test_an_unknown_term_finds_nothing_and_an_empty_index_neither() -> None:
    for rows in ([pack_terms({"a": 1})], []):
        postings = Postings.build(rows)
        assert postings.frequencies(hashes("b"))[0].tolist() == [0]
        assert not score(postings, [{"b": 1.0}]).any()
        assert not score(postings, []).any()


def test_terms_come_back_as_they_were_packed_within_quarters() -> None:
    packed = pack_terms({"a": 1.0, "b": 0.5, "c": 1000.0, "\ud800": 0.01})
    hashes, counts, length = unpack_terms(packed)
    assert length == pytest.approx(1001.51)
    assert [int(number) for number in hashes] == [term_hash(t) for t in ("a", "b", "c", "\ud800")]
    assert list(counts) == [4, 2, 255, 1]


def test_a_text_is_as_long_as_its_words_however_many_stems_each_is_stored_under() -> None:
    english, spanish = term_counts("the meetings"), term_counts("las reuniones")
    assert len(spanish) == 2 * len(english)
    assert [unpack_terms(pack_terms(terms))[2] for terms in (english, spanish)] == [2, 2]
    assert unpack_terms(pack_terms(term_counts("東京")))[2] == 1


def test_a_term_is_counted_once_for_each_group_it_stands_in() -> None:
    rows = [pack_terms({"all": 1.0, f"w{row % 2}": 1.0}) for row in range(6)]
    postings = Postings.build(rows, np.array([7, 7, 8, 8, 0, 0]))
    wanted = np.array([term_hash(term) for term in ("all", "w1", "nowhere")], "<u8")
    in_rows, in_groups = postings.frequencies(wanted)
    assert (list(in_rows), list(in_groups)) == ([6, 3, 0], [2, 2, 0])
    assert [list(none) for none in Postings.build([]).frequencies(wanted)] == [[0, 0, 0]] * 2
