# SPDX-License-Identifier: Apache-2.0
"""Random tables that dbgen would not write: keys with gaps and below zero, rows in any order, rows without the rows
they refer to, amounts of any size and sign. Primary keys are unique, and text has the words that queries look for."""
import datetime
from dataclasses import dataclass
from pathlib import Path

REGIONS = {"AFRICA": "ALGERIA ETHIOPIA KENYA MOROCCO MOZAMBIQUE",
           "AMERICA": "ARGENTINA BRAZIL CANADA PERU UNITED_STATES",
           "ASIA": "CHINA INDIA INDONESIA JAPAN VIETNAM",
           "EUROPE": "FRANCE GERMANY ROMANIA RUSSIA UNITED_KINGDOM",
           "MIDDLE EAST": "EGYPT IRAN IRAQ JORDAN SAUDI_ARABIA"}
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
MODES = ["AIR", "AIR REG", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]
INSTRUCTIONS = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]
TYPES = [["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
         ["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
         ["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"]]
CONTAINERS = [["SM", "LG", "MED", "JUMBO", "WRAP"],
              ["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]]
COLOURS = "almond azure blue brown chocolate forest green ivory lemon navy pink red salmon snow".split()
WORDS = ("special requests Customer Complaints pending packages unusual accounts specialrequests "
         "Complaints Customer sly deposits \u00e4 % _").split()


@dataclass(frozen=True)
class Flavour:
    sparse: bool = False    # keys with gaps, also negative ones, too wide for 32 bits
    shuffled: bool = False
    orphans: bool = False   # some rows refer to a row that is not there
    wide: bool = False      # amounts of any size and sign
    orders: int = 500


class _Maker:
    def __init__(self, random, like):
        self.random, self.like = random, like

    def key(self, i):
        return i * 1_000_000_007 - 5_000_000_000 if self.like.sparse else i

    def any_of(self, count):
        """Returns the key of one of `count` rows, or now and then a key of none."""
        if self.like.orphans and self.random.random() < 0.05:
            return self.key(count + 7)
        return self.key(self.random.randint(1, count))

    def amount(self, least, greatest):
        """Returns hundredths; as large as the oracle's decimals can multiply without an overflow."""
        most = 20_000_000_000
        return self.money(self.random.randint(*(-most, most) if self.like.wide else (least, greatest)))

    def rate(self, greatest):
        least, greatest = (-300, 300) if self.like.wide else (0, greatest)
        return self.money(self.random.randint(least, greatest))

    def quantity(self):
        return self.money(self.random.randint(-5000, 5000)) if self.like.wide else self.random.randint(1, 50)

    @staticmethod
    def money(hundredths):
        sign, size = "-" * (hundredths < 0), abs(hundredths)
        return f"{sign}{size // 100}.{size % 100:02}"

    def text(self, words, most, longest):
        """Returns up to so many words of at most so many bytes together, the column's limit."""
        chosen = self.random.choices(words, k=self.random.randint(1, most))
        while len(" ".join(chosen).encode()) > longest:
            chosen.pop()
        return " ".join(chosen)

    def phone(self):
        return f"{self.random.randint(10, 34)}-{self.random.randint(100, 999)}-555-0100"

    def of_each(self, lists):
        return " ".join(map(self.random.choice, lists))

    def nations(self):
        number = 0
        for region, (_, nations) in enumerate(REGIONS.items()):
            for name in nations.split():
                number += 1
                yield self.key(number), name.replace("_", " "), self.key(region + 1), self.text(WORDS, 9, 152)

    def parts(self, count):
        for i in range(1, count + 1):
            brand = self.random.randint(1, 5) * 10 + self.random.randint(1, 5)
            yield (self.key(i), self.text(COLOURS, 5, 55), f"Manufacturer#{brand // 10}", f"Brand#{brand}",
                   self.of_each(TYPES), self.random.randint(1, 50), self.of_each(CONTAINERS),
                   self.amount(90_000, 200_000), self.text(COLOURS, 2, 23))

    def suppliers(self, count):
        for i in range(1, count + 1):
            yield (self.key(i), f"Supplier#{i:09}", "street", self.any_of(25), self.phone(),
                   self.amount(-99_999, 999_999), self.text(WORDS, 9, 101))

    def customers(self, count):
        for i in range(1, count + 1):
            yield (self.key(i), f"Customer#{i:09}", "street", self.any_of(25), self.phone(),
                   self.amount(-99_999, 999_999), self.random.choice(SEGMENTS), self.text(WORDS, 9, 117))

    def orders(self, count, customers, days):
        for i in range(1, count + 1):
            yield (self.key(i), self.any_of(customers), self.random.choice("FOP"), self.amount(90_000, 50_000_000),
                   days[i - 1], self.random.choice(PRIORITIES), "Clerk#1", self.random.randint(0, 1),
                   self.text(WORDS, 6, 79))

    def lines(self, days, parts, suppliers_of):
        for order, ordered in enumerate(days, 1):
            key = self.any_of(len(days)) if self.like.orphans else self.key(order)
            for number in range(1, self.random.randint(1, 7) + 1):
                part = self.random.randint(1, parts)
                supplier = self.random.choice(suppliers_of[part - 1])
                shipped = ordered + datetime.timedelta(days=self.random.randint(1, 121))
                yield (key, self.any_of(parts) if self.random.random() < 0.1 else self.key(part),
                       self.key(supplier), order * 10 + number, self.quantity(),
                       self.amount(90_000, 10_000_000), self.rate(10), self.rate(8), self.random.choice("ANR"),
                       self.random.choice("FO"), shipped,
                       ordered + datetime.timedelta(days=self.random.randint(30, 90)),
                       shipped + datetime.timedelta(days=self.random.randint(1, 30)),
                       self.random.choice(INSTRUCTIONS), self.random.choice(MODES), self.text(WORDS, 3, 44))

    def tables(self):
        count = self.like.orders
        customers, parts, suppliers = count // 5 + 1, count // 4 + 1, count // 20 + 1
        first = datetime.date(1992, 1, 1)
        days = [first + datetime.timedelta(days=self.random.randrange(2406)) for _ in range(count)]
        suppliers_of = [self.random.sample(range(1, suppliers + 1), min(4, suppliers)) for _ in range(parts)]
        return {
            "region": [(self.key(i + 1), name, self.text(WORDS, 9, 152)) for i, name in enumerate(REGIONS)],
            "nation": list(self.nations()),
            "part": list(self.parts(parts)),
            "supplier": list(self.suppliers(suppliers)),
            "partsupp": [(self.key(part), self.key(supplier), self.random.randint(1, 9999), self.amount(100, 100_000),
                          self.text(WORDS, 9, 199))
                         for part, some in enumerate(suppliers_of, 1) for supplier in some],
            "customer": list(self.customers(customers)),
            "orders": list(self.orders(count, customers, days)),
            "lineitem": list(self.lines(days, parts, suppliers_of)),
        }


def write_tables(folder, random, like):
    """Writes all eight tables as text, FOLDER/lineitem.tbl and so on."""
    for name, rows in _Maker(random, like).tables().items():
        if like.shuffled:
            random.shuffle(rows)
        text = "".join("|".join(map(str, row)) + "|\n" for row in rows)
        (Path(folder) / f"{name}.tbl").write_text(text, encoding="utf-8")
