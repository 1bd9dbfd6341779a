"""The normaliser: one answer on every path, for every script."""

from __future__ import annotations

import subprocess
import sys
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.search.normalise import MAX_STEMMED_LENGTH, STOP_WORDS, count_unspaced, is_unspaced, runs, stem, tokens

ASCII = st.text(st.characters(max_codepoint=127))
CASED = st.text(st.characters(categories=("Lu", "Ll", "Lt", "Mn", "Nd", "Zs")))


@given(ASCII)
def test_the_fast_path_agrees_with_the_slow_one(text: str) -> None:
    """S42: ASCII text gives the same words by the table of bytes as by the rules for all of Unicode, whatever stands beside it."""
    assert tokens(text) == runs(text)
    assert tokens(text + " \u00e9") == [*tokens(text), "e"]


@given(st.text())
def test_tokens_of_tokens_are_the_same(text: str) -> None:
    """What an index stores can be read as text again."""
    assert tokens(" ".join(tokens(text))) == tokens(text)


def test_what_an_accent_kept_apart_is_joined() -> None:
    """Two vowel signs that compose do so also where a dropped accent stood between them."""
    composed = "\u0995\u09cb"
    assert tokens("\u0995\u09c7\u0301\u09be") == tokens("\u0995\u09c7\u09be") == [composed]


@given(st.text())
def test_tokens_hold_nothing_an_engine_could_cut(text: str) -> None:
    """No ASCII but digits and small letters, no white space, nothing empty."""
    for token in tokens(text):
        assert token
        assert all(character in "0123456789abcdefghijklmnopqrstuvwxyz" for character in token if character.isascii())
        assert token.split() == [token]


@given(st.text())
def test_runs_are_tokens_together(text: str) -> None:
    """Runs cut at the same places, save between neighbours of an unspaced script."""
    apart = [token for run in runs(text) for token in (run if is_unspaced(run[0]) else [run])]
    assert apart == tokens(text)


@given(CASED)
def test_case_and_form_do_not_matter(text: str) -> None:
    """S41, S42: upper, lower and title case, and composed and decomposed forms, are one text."""
    assert tokens(text.upper()) == tokens(text.lower()) == tokens(text.title()) == tokens(text)
    assert tokens(unicodedata.normalize("NFD", text)) == tokens(unicodedata.normalize("NFKC", text)) == tokens(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The U.S.A.'s 2nd snake_case e-mail", "the u s a s 2nd snake case e mail"),
        ("Crème BRÛLÉE à Zürich, Łódź, Ærø", "creme brulee a zurich lodz æro"),
        ("Straße STRASSE ﬁn ＦＵＬＬ", "strasse strasse fin full"),
        ("İstanbul IĞDIR ığdır", "istanbul igdir igdir"),
        ("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"),
        ("мой мои Ёлка", "мой мои елка"),
        ("مُحَمَّد محمد", "محمد محمد"),
        ("שָׁלוֹם שלום", "שלום שלום"),
        ("हिन्दी में खोज", "हिन्दी में खोज"),
        ("தமிழ் இனிது", "தமிழ் இனிது"),
        ("Việt Nam", "viet nam"),
        ("x² ½ Ⅳ", "x2 1 2 iv"),
        ("co\u00adoperate zero\u200bwidth", "cooperate zerowidth"),
        ("Kleenex™ and more", "kleenex and more"),
        ("C++ C# 100% $100 #tag @me a:b", "c c 100 100 tag me a b"),
        ("it’s “quoted” — dashed…", "it s quoted dashed"),
    ],
)
def test_words(text: str, wanted: str) -> None:
    """S41: whole words, accents and case gone, vowel signs kept."""
    assert tokens(text) == wanted.split()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("学习 Python3吧", "学 习 python3 吧"),
        ("東京タワー", "東 京 タ ワ ー"),
        ("ｶﾞｰﾃﾞﾝ", "ガ ー デ ン"),
        ("か\u3099", "が"),
        ("한국어", "한 국 어"),
        (unicodedata.normalize("NFD", "한국어"), "한 국 어"),
        ("ชาว", "ช า ว"),
        ("ກິນ", "ກ ິ ນ"),
        ("ខ្មែរ", "ខ ្ ម ែ រ"),
        ("မြန်", "မ ြ န ်"),
        ("人々〇", "人 々 〇"),
        ("葛\U000e0100城", "葛 城"),
        ("𠮷野家", "𠮷 野 家"),
        ("スーパー・マーケット", "ス ー パ ー マ ー ケ ッ ト"),
    ],
)
def test_unspaced_scripts_are_cut_into_characters(text: str, wanted: str) -> None:
    """S42: Han, Hiragana, Katakana, Hangul, Thai, Lao, Khmer and Myanmar, one by one."""
    assert tokens(text) == wanted.split()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("I ♥ it😍🎉", "i ♥ it 😍 🎉"), ("👍🏽 👍", "👍 👍"), ("👩\u200d💻", "👩 💻"), ("1\ufe0f\u20e3", "1"), ("20°C", "20 ° c")],
)
def test_symbols_are_tokens(text: str, wanted: str) -> None:
    """An emoji is found with and without its skin, whatever it is glued to."""
    assert tokens(text) == wanted.split()


@pytest.mark.parametrize("text", ["", " ", "\x00\x1f", "!?.,;()[]", "\ud800", "\u200b\u00ad", "\ue000", "—…«»", "\n\u2028\u3000"])
def test_what_holds_no_words_gives_none(text: str) -> None:
    """S45: controls, punctuation, surrogates and private characters only separate."""
    assert tokens(text) == []


def test_runs_see_the_gaps() -> None:
    """Two words of an unspaced script with a space between are two runs."""
    assert runs("学习 机器,人ab") == ["学习", "机器", "人", "ab"]


def test_count_unspaced() -> None:
    """The measure that budgets use."""
    assert count_unspaced("ab 学习, 한") == 3
    assert count_unspaced("plain") == 0


@pytest.mark.parametrize(
    ("word", "wanted"),
    [("running", "run"), ("memories", "memori"), ("is", "is"), ("123s", "123s"), ("élèves", "élèves"), ("学", "学"), ("", "")],
)
def test_stem(word: str, wanted: str) -> None:
    """English words lose their endings, everything else stays."""
    assert stem(word) == wanted


def test_an_endless_word_is_not_stemmed() -> None:
    """The stemmer's time grows with the length, so there is a limit just above every English word."""
    word = "a" * (MAX_STEMMED_LENGTH - 7) + "running"
    assert stem(word) != word
    assert stem("a" + word) == "a" + word


def test_threads_do_not_share_a_stemmer() -> None:
    """Stems made by several threads at once are those made by one."""
    letters = "bcdfghklmnprstvw"
    words = [a + vowel + b + c + "ing" for a in letters for b in letters for c in letters[:4] for vowel in "ao"]
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append([stem(word) for word in words])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    from snowballstemmer.english_stemmer import EnglishStemmer

    alone = EnglishStemmer()
    assert found == [[alone.stemWord(word) for word in words]] * 4


def test_stop_words_are_tokens() -> None:
    """Each of them is something `tokens` can give."""
    assert [tokens(word) for word in sorted(STOP_WORDS)] == [[word] for word in sorted(STOP_WORDS)]


def test_importing_the_layer_loads_nothing_heavy() -> None:
    """numpy and the stemmer come with the first call that needs them."""
    modules = "budget filters fusion keyword mmr normalise priors".split()
    program = "import sys\n" + "".join(f"import indelible.search.{module}\n" for module in modules)
    program += "print([name for name in ('numpy', 'snowballstemmer', 'asyncio') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
