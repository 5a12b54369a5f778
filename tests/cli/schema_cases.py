# SPDX-License-Identifier: Apache-2.0
"""Runs of commands with --json, by the schema in docs/schemas that each must satisfy. `{}` in an
argument is a folder with the files that write_inputs() makes."""

DAYS = ["1994-{:02}-{:02}".format(month, day) for month in range(1, 13) for day in range(1, 29, 9)]
ROW = "{0}|5|6|{1}|17|1000.00|0.06|0.02|N|O|{2}|1994-12-30|1994-12-31|NONE|{3}|one|\n"


def write_inputs(folder):
    files = {
        "text": "to be or not to be\nthat is the question\n",
        "points.csv": "x,y\n" + "".join(f"{i},{3 * i + i % 2}\n" for i in range(40)),
        "pixels.rgb": "abcdef" * 50,
        "sf/customer.tbl": "1|Customer#1|street|15|25-989|711.56|BUILDING|comment|\n",
        "sf/orders.tbl": "".join(f"{key}|1|O|100.00|{day}|5-LOW|Clerk#1|0|comment|\n"
                                 for key, day in enumerate(DAYS, 1)),
        "sf/lineitem.tbl": "".join(ROW.format(key, number, day, mode)
                                   for key, day in enumerate(DAYS, 1)
                                   for number, mode in enumerate(("MAIL", "SHIP"), 1)),
    }
    (folder / "sf").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


ON_CHIP = "--backend scc -n 32 --block 8 --cores 4"
CASES = {
    "info": ["info --json"],
    "wordcount": ["wordcount --json --energy {}/text", "wordcount --json --memory 1M {}/text",
                  "wordcount --json --backend scc --cores 4 {}/text"],
    "histogram": ["histogram --raw --json {}/pixels.rgb"],
    "linear-regression": ["linear-regression --json {}/points.csv"],
    "kmeans": ["kmeans --clusters 3 --json {}/points.csv"],
    "string-match": ["string-match --json be {}/text"],
    "filter": ["filter --json be {}/text", "filter --json --count be {}/text"],
    "inverted-index": ["inverted-index --json {}/text",
                       "inverted-index --json --memory 1M {}/text"],
    "tpch-load": ["tpch load --json {}/sf"],
    "tpch-query": ["tpch q6 --json --data {}/sf", "tpch q6 --json --explain --data {}/sf",
                   "tpch q6 --form paper --json --data {}/sf",
                   "tpch q12 --form paper --backend scc --cores 4 --json --data {}/sf"],
    "lu": ["lu -n 40 --json", "lu -n 40 --check --form blocks --block 8 --json",
           f"lu {ON_CHIP} --json"],
    "chol": ["chol -n 40 --check --runs 2 --json", f"chol {ON_CHIP} --json"],
    "qr": ["qr -n 40 --json", f"qr {ON_CHIP} --json"],
    "solve": ["solve -n 40 --json", "solve -n 40 --refine mixed --json",
              "solve -n 40 --method qr --json"],
    "compare": ["compare fib -n 9 --runs 2 --json", "compare lu -n 40 --runs 6 --json",
                "compare lu --backend scc -n 32 --block 8 --workers 4 --json"],
    "scc-info": ["scc info --json"],
    "bench-scc-messages": ["bench scc-messages --cores 4 --json"],
    "bench-scc-copies": ["bench scc-copies --cores 4 --bytes 4096 --json"],
    "bench-scc-invoke": ["bench scc-invoke --cores 4 --protocol vector --json"],
    "bench-scc-primitives": ["bench scc-primitives --json"],
    "bench-scc-simulator": ["bench scc-simulator --json"],
    "bench-scc-power": ["bench scc-power --json"],
    "bench-scc-linalg": ["bench scc-linalg -n 32 --block 8 --cores 1,4 --json"],
    "bench-scc-linalg-messages": ["bench scc-linalg-messages lu --n 32 --cores 4 --json"],
    "bench-scc-mapreduce": ["bench scc-mapreduce --quick --cores 1,4 --workload histogram --json"],
    "bench-mapreduce": ["bench mapreduce --quick --workers 1,2 --runs 2 --workload histogram --json"],
    "bench-tpch-paper": ["bench tpch-paper --workers 1,2 --repeat 1 --json --data {}/sf",
                         "bench tpch-paper --backend scc --workers 1,4 --json --data {}/sf"],
    "bench-schedulers-scc": ["bench schedulers --backend scc --quick --cores 1,4 --lengths 10 "
                             "--workload spc --json {}/schedulers.json"],
}
