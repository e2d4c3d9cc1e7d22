"""Counts the matches of nine patterns in FinBench's stream with DuckDB: what motifd's test (TestS14FinBench) expects.

An edge lives from the row that inserts it to the row that deletes one of its accounts. A match appears when the last
of its edges comes, if they all live then. The table has, by pattern, how many matches appear in the whole stream, and
how many of them are left at its end. `make test-finbench` compares it with cmd/motifd/testdata/finbench.tsv.
"""

import sys

import duckdb

DAY = 86_400_000  # ms

# name: (kinds of the edges by name, condition); a and b are an edge's source and target.
PATTERNS = {
    "pairs": ({"t": "transfer", "u": "transfer"}, "t.a = u.a AND t.b = u.b AND t.i <> u.i"),
    "paths": ({"t": "transfer", "u": "transfer"}, "t.b = u.a AND t.a <> u.b"),
    "triangles": (
        {"t": "transfer", "u": "transfer", "v": "transfer"},
        "t.b = u.a AND u.b = v.a AND v.b = t.a",
    ),
    # what a payer repeats within a week, and less of it
    "repeated": (
        {"t": "transfer", "u": "transfer"},
        f"t.a = u.a AND t.b = u.b AND t.ts < u.ts AND u.ts <= t.ts + {7 * DAY} AND u.amount < t.amount",
    ),
    # three payments of a pair within 30 days, the last one the largest
    "rising": (
        {"t": "transfer", "u": "transfer", "v": "transfer"},
        "t.a = u.a AND t.b = u.b AND t.a = v.a AND t.b = v.b AND t.ts < u.ts AND u.ts < v.ts "
        f"AND v.ts <= t.ts + {30 * DAY} AND v.amount > t.amount AND v.amount > u.amount",
    ),
    # at least 90 % of a payment leaves within the day
    "pass_through": (
        {"t": "transfer", "u": "transfer"},
        f"t.b = u.a AND t.a <> u.b AND t.ts < u.ts AND u.ts <= t.ts + {DAY} "
        "AND 10 * u.amount >= 9 * t.amount AND u.amount <= t.amount",
    ),
    # money returns within 90 days, and less of it
    "shrinking_ring": (
        {"t": "transfer", "u": "transfer", "v": "transfer"},
        "t.b = u.a AND u.b = v.a AND v.b = t.a AND t.ts < u.ts AND u.ts < v.ts "
        f"AND v.ts <= t.ts + {90 * DAY} AND t.amount > v.amount",
    ),
    # a large part of a payment is withdrawn within three days
    "cashed": (
        {"t": "transfer", "w": "withdraw"},
        f"t.b = w.a AND t.a <> w.b AND t.ts < w.ts AND w.ts <= t.ts + {3 * DAY} "
        "AND w.amount >= 1000000 AND w.amount <= t.amount",
    ),
    # three accounts pay one, a million or more each, within three days
    "fan_in": (
        {"t": "transfer", "u": "transfer", "v": "transfer"},
        "t.b = u.b AND t.b = v.b AND t.a <> u.a AND t.a <> v.a AND u.a <> v.a AND t.ts < u.ts AND u.ts < v.ts "
        f"AND v.ts <= t.ts + {3 * DAY} AND t.amount >= 1000000 AND u.amount >= 1000000 AND v.amount >= 1000000",
    ),
}


def main(stream):
    db = duckdb.connect(config={"threads": 1})  # rows are numbered as they are read
    db.execute(
        """CREATE TABLE row AS SELECT row_number() OVER () AS i, time_ms::BIGINT AS ts, op, kind,
             "from" AS a, "to" AS b, amount::DECIMAL(18, 2) AS amount FROM read_csv(?, all_varchar = true)""",
        [stream],
    )
    db.execute(
        """CREATE TABLE edge AS SELECT i, ts, kind, a, b, amount,
             coalesce((SELECT min(d.i) FROM row d WHERE d.op = '-' AND d.i > e.i AND d.a IN (e.a, e.b)),
               1000000000) AS gone
           FROM row e WHERE op = '+' AND a <> b"""
    )
    print("pattern\tappear\tleft")
    for name, (edges, condition) in PATTERNS.items():
        tables = ", ".join(f"(SELECT * FROM edge WHERE kind = '{kind}') {e}" for e, kind in edges.items())
        born = "greatest(" + ", ".join(f"{e}.i" for e in edges) + ")"
        gone = "least(" + ", ".join(f"{e}.gone" for e in edges) + ")"
        appear, left = db.execute(
            f"SELECT count(*), count(*) FILTER ({gone} = 1000000000) FROM {tables} "
            f"WHERE {condition} AND {born} < {gone}"
        ).fetchone()
        print(f"{name}\t{appear}\t{left}")


main(sys.argv[1])
