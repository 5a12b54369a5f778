# SPDX-License-Identifier: Apache-2.0
"""oracle.py words SEED: random text, and its words by Python's unicodedata.
oracle.py matches SEED: random patterns and text, and the matches in its lines by Python's re.
oracle.py json SEED: random lines, and their values by Python's json.

Prints per case the options or the pattern, the text, and the words, the matches or the values, separated by
semicolons; all but the options as hexadecimal digits, the last as a list with commas.
"""

import json
import math
import random
import re
import struct
import sys
import unicodedata

JOINERS = "'\u00b7\u2019\u00ad\u200c\u200d"
# Ranges from which characters are drawn: ASCII, Latin, marks, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai,
# Hangul, Georgian, punctuation, letter-like, Han, compatibility forms, mathematical letters.
RANGES = [(0x20, 0x7f), (0x41, 0x5b), (0x61, 0x7b), (0xa0, 0x250), (0x300, 0x370), (0x370, 0x400), (0x400, 0x530),
          (0x590, 0x600), (0x600, 0x700), (0x900, 0x980), (0xe00, 0xe80), (0x1100, 0x1200), (0x10a0, 0x1100),
          (0x1e00, 0x2000), (0x2000, 0x2070), (0x2100, 0x2190), (0x2c00, 0x2e00), (0x4e00, 0x4f00), (0xac00, 0xad00),
          (0xfb00, 0xfb50), (0xff00, 0xfff0), (0x1d400, 0x1d500), (0x10400, 0x10450)]


def kind(c, digits):
    category = unicodedata.category(c)
    if category[0] == "L" or category == "Nl":
        return "letter"
    if category == "Nd":
        return "digit" if digits else ""
    if category[0] == "M":
        return "mark"
    return "joiner" if c in JOINERS else ""


def words_of(text, digits):
    kinds = [kind(c, digits) for c in text]
    words, word, base = [], "", ""
    for i, c in enumerate(text):
        here = kinds[i]
        after = kinds[i + 1] if i + 1 < len(text) else ""
        if here in ("letter", "digit"):
            word, base = word + c, here
        elif word and (here == "mark" or (here == "joiner" and base == "letter" and after == "letter")):
            word += c
        elif word:
            words.append(word)
            word = ""
    return words + [word] if word else words


def changed(word, form, fold):
    """Folds and normalises as toNFKC_Casefold(NFD(X)) of the Unicode Standard (section 3.13), and likewise for NFC:
    the characters one by one until nothing changes, as those that stand for others may stand for capitals."""
    def normalized(text):
        return unicodedata.normalize(form.upper(), text) if form != "none" else text

    if not fold:
        return normalized(word)
    if form != "none":
        word = unicodedata.normalize("NFD", word)
    folded = ""
    for c in word:
        while c != (after := normalized(c.casefold())):
            c = after
        folded += c
    return normalized(folded)


def random_text():
    text = ""
    ranges = random.choices(RANGES, k=random.randint(1, 3))
    for _ in range(random.randint(0, 60)):
        what = random.random()
        if what < 0.12:
            text += random.choice(" \n\t,.;-_")
        elif what < 0.2:
            text += random.choice(JOINERS)
        else:
            c = chr(random.randrange(*random.choice(ranges)))
            text += c if unicodedata.category(c) != "Cn" else "?"
    return text


def encoded(text):
    """The text in UTF-8, sometimes with bytes that are not, and how Python reads that."""
    data = text.encode()
    if random.random() < 0.3:
        for _ in range(random.randint(1, 4)):
            at = random.randint(0, len(data))
            data = data[:at] + random.choice([b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff", b"\xc0\xaf",
                                              b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]) + data[at:]
    return data, data.decode(errors="replace")


def print_words():
    for _ in range(3000):
        data, text = encoded(random_text())
        form, fold, digits = random.choice(["none", "nfc", "nfkc"]), random.random() < 0.5, random.random() < 0.8
        words = [changed(word, form, fold).encode().hex() for word in words_of(text, digits)]
        print(f"{form}{' fold' if fold else ''}{'' if digits else ' letters'};{data.hex()};{','.join(words)}")


def random_pattern(depth):
    """A pattern for which the rule of Perl and those of RE2 and Python agree: nothing in it repeats what may be
    empty."""
    def atom(level):
        if level == 0 or random.random() < 0.6:
            return random.choice(["a", "b", "\u00e4", "[ab]", "[^a]", ".", "\\d", "\\s", "1"])
        return f"({random.choice(['', '?:'])}{random_pattern(level - 1)})"

    text = ""
    for _ in range(random.randint(1, 3)):
        part = atom(depth)
        text += part if "(" in part else part + random.choice(["", "", "+", "*", "?", "{1,2}"])
    if random.random() < 0.3:
        text += "|" + atom(depth)
    if depth < 2 or "|" in text:
        return text
    # \\A and \\Z (RE2: \\z) are the ends of a line.
    return random.choice(["", "", "^", "\\b", "\\A"]) + text + random.choice(["", "", "", "$", "\\b", "\\Z"])


def print_matches():
    for _ in range(2000):
        pattern = random_pattern(2)
        text = "".join(random.choice("aab\u00e41 \n") for _ in range(random.randint(0, 40)))
        found = []
        for line in text.split("\n"):
            at = 0
            while (match := re.compile(pattern, re.ASCII).search(line, at)) is not None:
                at = match.end() if match[0] else match.end() + 1
                if match[0]:
                    groups = [match[0], *match.groups()]
                    found.append("/".join("-" if group is None else group.encode().hex() for group in groups))
                if at > len(line):
                    break
        pattern = pattern.replace("\\Z", "\\z")
        print(f"{pattern.encode().hex()};{text.encode().hex()};{','.join(found)}")


def random_value(depth):
    what = random.randint(0, 6 if depth else 4)
    if what == 5:
        return [random_value(depth - 1) for _ in range(random.randint(0, 4))]
    if what == 6:
        return {random_string(): random_value(depth - 1) for _ in range(random.randint(0, 4))}
    return [None, random.random() < 0.5, random.randint(-2**63, 2**63 - 1),
            random.choice([random.gauss(0, 1), 10 ** random.uniform(-300, 300)]), random_string()][what]


def random_string():
    return "".join(random.choice("ab\"\\/\n\t\0\u00e4\U0001f600 ") for _ in range(random.randint(0, 9)))


class members(list):
    """An object, whose names may occur more than once."""


def canonical(value):
    """A form that is easy to write in C++ too: strings as hexadecimal digits, numbers by their bits. Raises ValueError
    for what creek does not accept: halves of surrogate pairs, numbers out of range."""
    if value is None:
        return "n"
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, int) and -2**63 <= value < 2**63:
        return f"i{value}"
    if isinstance(value, int) and 0 <= value < 2**64:
        return canonical(float(value))
    if isinstance(value, float) and math.isfinite(value):
        return "d" + struct.pack(">d", value).hex()
    if isinstance(value, str):
        return "s" + value.encode().hex()
    if isinstance(value, members):
        return "{" + " ".join(name.encode().hex() + ":" + canonical(member) for name, member in value) + "}"
    if isinstance(value, list):
        return "[" + " ".join(map(canonical, value)) + "]"
    raise ValueError(value)


def read(text):
    def refuse(name):
        raise ValueError(name)

    return canonical(json.loads(text, parse_constant=refuse, object_pairs_hook=members))


def print_json():
    for _ in range(1500):
        text = json.dumps(random_value(3), ensure_ascii=random.random() < 0.5,
                          separators=random.choice([(",", ":"), (", ", ": ")]))
        if random.random() < 0.3:
            at = random.randrange(len(text))
            text = text[:at] + random.choice('x]}",:0\x01') + text[at + random.randint(0, 1):]
        try:
            value = read(text)
        except ValueError:
            value = ""
        print(f"{'valid' if value else 'damaged'};{text.encode().hex()};{value}")


def main():
    random.seed(int(sys.argv[2]))
    {"words": print_words, "matches": print_matches, "json": print_json}[sys.argv[1]]()


if __name__ == "__main__":
    main()
