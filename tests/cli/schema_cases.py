# SPDX-License-Identifier: Apache-2.0
"""Runs of commands with --json, each with the schema in docs/schemas that it must satisfy. `{}` in an
argument is a folder with the files that write_inputs() makes."""
import datetime
import json

NATIONS = {"FRANCE": "EUROPE", "GERMANY": "EUROPE", "BRAZIL": "AMERICA", "CANADA": "AMERICA",
           "CHINA": "ASIA", "SAUDI ARABIA": "MIDDLE EAST"}
REGIONS = sorted(set(NATIONS.values()))
ORDER_DATES = ("1993-07-15", "1993-10-15", "1994-02-10", "1995-03-10", "1995-08-25", "1996-01-10")
# A line of an order: its part and quantity. The lines take the suppliers in turn.
LINES = ((1, 50), (2, 50), (3, 50), (2, 50), (1, 50), (3, 50), (3, 50), (2, 1), (2, 15))


def lines_of(order, ordered):
    """Returns the lines of one order; those of the last nation's supplier are late."""
    shipped, due = ordered + datetime.timedelta(10), ordered + datetime.timedelta(20)
    for number, (part, quantity) in enumerate(LINES):
        supplier = number % len(NATIONS) + 1
        late = supplier == len(NATIONS)
        received = due + datetime.timedelta(5 if late else -5)
        yield (order, part, supplier, number + 1, quantity, "1000.00", "0.06", "0.02", "R", "F", shipped, due,
               received, "DELIVER IN PERSON", "MAIL" if late else "AIR", "comment")


def tables():
    """Returns TPC-H tables in which every query with its default parameters finds rows: per nation a supplier
    and a customer with an order on every date, and a customer without orders."""
    nations = [(key, name, REGIONS.index(region), "") for key, (name, region) in enumerate(NATIONS.items())]
    people = range(1, len(NATIONS) + 1)
    orders = [(key, (key - 1) % len(NATIONS) + 1, "F", "100.00", ordered, "1-URGENT", "Clerk#1", 0, "")
              for key, ordered in enumerate((datetime.date.fromisoformat(date) for date in ORDER_DATES
                                             for _ in people), 1)]
    return {
        "region": [(key, name, "") for key, name in enumerate(REGIONS)],
        "nation": nations,
        "supplier": [(key, f"Supplier#{key}", "street", key - 1, "13-1", "100.00", "") for key in people],
        "customer": [(key, f"Customer#{key}", "street", (key - 1) % len(NATIONS), "13-1",
                      "100.00" if key in people else "9000.00", "BUILDING", "") for key in range(1, len(NATIONS) + 2)],
        "part": [(1, "pale", "Maker#1", "Brand#12", "LARGE PLATED BRASS", 15, "SM CASE", "1.00", ""),
                 (2, "forest green", "Maker#1", "Brand#23", "ECONOMY ANODIZED STEEL", 9, "MED BOX", "1.00", ""),
                 (3, "pale", "Maker#1", "Brand#34", "PROMO PLATED TIN", 3, "LG CASE", "1.00", "")],
        "partsupp": [(part, supplier, 1000, f"{supplier}.00", "") for part in (1, 2, 3) for supplier in people],
        "orders": orders,
        "lineitem": [line for order in orders for line in lines_of(order[0], order[4])],
    }


def peer_program(lists, fails=False):
    """Returns a program that speaks the protocol of bench/README.md in place of a benchmark."""
    shared = {"about": "a test", "unit": "ns", "full": 1, "quick": 1, "smoke": [1], "min_workers": 1, "limit": False,
              "rate": False, "warmup": False, "scale": 1}
    listed = "\n".join(json.dumps({**shared, "version": "1", **each}) for each in lists)
    run = "exit 3" if fails else """echo '{"total_ns": 10, "work": 5, "answer": "1", "best_ns": 8, "first_ns": 90}'"""
    return f"#!/bin/sh\nif [ \"$1\" = --list ]; then cat <<'END'\n{listed}\nEND\nelse {run}; fi\n"


def peers():
    fib = {"workload": "fib", "bounds": "fence"}
    post = {"workload": "invoke_post", "groups": "invoke"}
    dgemm = {"workload": "dgemm", "groups": "linalg", "rate": True}
    lu = {"workload": "lu", "groups": "linalg", "rate": True, "share_of": "dgemm"}
    dgetrf = {"workload": "dgetrf", "groups": "lapack", "rate": True, "calls": True}
    words = {"workload": "count_words", "groups": "mapreduce", "rate": True}
    fence = {"workload": "fence", "limit": True, "groups": "tasking invoke"}
    return {"bench_creek": peer_program([fib, post, dgemm, lu, words]),
            "bench_serial": peer_program([fib, words]),
            "bench_tbb": peer_program([fib, post]), "bench_libgomp": peer_program([fib], fails=True),
            "bench_blas": peer_program([dgemm, lu, {"peer": "mkl", "missing": "install it"}]),
            "bench_lapack": peer_program([{**dgetrf, "peer": "creek", "options": "--peer creek"},
                                          {"peer": "mkl", "missing": "install it"}]),
            "bench_limits": peer_program([fence])}


def grey_pixel():
    """A JPEG of one pixel, without the standard Huffman tables."""
    return bytes.fromhex("ffd8ffdb004300" + 64 * "01" + "ffc0000b080001000101011100ffda0008010100003f002bffd9")


def write_inputs(folder):
    (folder / "video.mjpeg").write_bytes(2 * grey_pixel() + b"\x80\x80")
    files = {
        "text": "to be or not to be\nthat is the question\n",
        "points.csv": "x,y\n" + "".join(f"{i},{3 * i + i % 2}\n" for i in range(40)),
        "pixels.rgb": "abcdef" * 50,
        **{f"peers/{name}": text for name, text in peers().items()},
        **{f"sf/{name}.tbl": "".join("|".join(map(str, row)) + "|\n" for row in rows)
           for name, rows in tables().items()},
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)


ON_CHIP = "--backend scc -n 32 --block 8 --cores 4"
PEERS = "--size smoke --workers 1,2 --runs 2 --peer-dir {}/peers"
CASES = {
    "info": ["info --json"],
    "wordcount": ["wordcount --json --energy {}/text", "wordcount --json --memory 1M {}/text",
                  "wordcount --json --backend scc --cores 4 {}/text"],
    "histogram": ["histogram --raw --json {}/pixels.rgb"],
    "linear-regression": ["linear-regression --json {}/points.csv"],
    "kmeans": ["kmeans --clusters 3 --json {}/points.csv"],
    "string-match": ["string-match --json be {}/text", "string-match --json \udcff {}/text"],
    "filter": ["filter --json be {}/text", "filter --json --count be {}/text", "filter --json \udcff {}/text"],
    "inverted-index": ["inverted-index --json {}/text",
                       "inverted-index --json --memory 1M {}/text"],
    "compress": ["compress --json -o {}/text.bz2 --energy {}/text",
                 "compress --json -o {}/text.bz2 --backend scc --cores 2 {}/text"],
    "raytrace": ["raytrace --json --width 8 --height 6 -o {}/picture.png",
                 "raytrace --json --width 8 --height 6 -o {}/picture.ppm --backend scc --cores 2"],
    "mjpeg": ["mjpeg --json --checksums {}/video.mjpeg", "mjpeg --json --output-dir {}/frames {}/video.mjpeg",
              "mjpeg --json --checksums --backend scc --cores 2 {}/video.mjpeg"],
    "tpch-load": ["tpch load --json {}/sf"],
    "tpch-query": [*(f"tpch q{number} --answer-only --json --data {{}}/sf" for number in range(1, 23)),
                   "tpch q6 --json --explain --energy --data {}/sf",
                   "tpch q3 --form paper --json --data {}/sf",
                   "tpch q6 --form paper --answer-only --json --data {}/sf",
                   "tpch q12 --form paper --backend scc --cores 4 --json --data {}/sf"],
    "lu": ["lu -n 40 --json", "lu -n 40 --check --form blocks --block 8 --json"],
    "chol": ["chol -n 40 --check --runs 2 --json"],
    "qr": ["qr -n 40 --json", "qr -n 40 --form blocks --block 8 --check --json"],
    "solve": ["solve -n 40 --json", "solve -n 40 --refine mixed --json",
              "solve -n 40 --method qr --json"],
    "dense-scc": [f"lu {ON_CHIP} --json", f"chol {ON_CHIP} --memory messages --json", f"qr {ON_CHIP} --json"],
    "dense-mpi": [f"{command} --backend mpi -n 40 --check --policy blocking --json" for command in ("lu", "chol", "qr")],
    "compare": ["compare fib -n 9 --runs 2 --json", "compare lu -n 40 --runs 6 --json",
                "compare lu --backend scc -n 32 --block 8 --workers 4 --json"],
    "scc-info": ["scc info --json"],
    "bench-peers": [f"bench {group} {PEERS} --json {{}}/{group}.json"
                    for group in ("tasking", "invoke", "linalg", "lapack", "mapreduce", "stream", "schedulers")],
    "bench-machines": ["bench machines --ranks 1,4 --gigabytes 0.01 -n 128 --depth 5 --json"],
    "bench-scc-messages": ["bench scc-messages --cores 4 --json"],
    "bench-scc-copies": ["bench scc-copies --cores 4 --bytes 4096 --json"],
    "bench-scc-invoke": ["bench scc-invoke --cores 4 --protocol vector --json"],
    "bench-scc-primitives": ["bench scc-primitives --json"],
    "bench-scc-simulator": ["bench scc-simulator --json"],
    "bench-scc-power": ["bench scc-power --json"],
    "bench-scc-linalg": ["bench scc-linalg -n 32 --block 8 --cores 1,4 --json"],
    "bench-scc-linalg-messages": ["bench scc-linalg-messages lu --n 32 --cores 4 --json"],
    "bench-scc-mapreduce": ["bench scc-mapreduce --quick --cores 1,4 --workload histogram --json"],
    "bench-stages": ["bench stages --quick --workers 1,2 --runs 2 --workload histogram --json"],
    "bench-tpch-paper": ["bench tpch-paper --workers 1,2 --repeat 1 --json --data {}/sf",
                         "bench tpch-paper --backend scc --workers 1,4 --json --data {}/sf"],
    "bench-schedulers-scc": ["bench schedulers --backend scc --quick --cores 1,4 --lengths 10 "
                             "--workload spc --json {}/schedulers.json"],
}
ELSEWHERE = {"rccerun", "profile"}  # tests/rcce/json_test.py; Output.test_of_a_profile in schema_test.py
