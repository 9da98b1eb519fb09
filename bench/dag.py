"""A project of N small models in four layers, the same SQL for weir and for the floor.

A tenth are sources (a few inline rows), three tenths read one source each, four tenths join two to four of those (every fourth joins an
earlier join too), the rest aggregate over a join of two. Which model reads which is drawn with a fixed seed, so N decides everything.
"""
import os
import random


def source(i, rows):
    values = ", ".join(
        f"({k}, {k % 4}, DATE '2026-03-{1 + (k * 3 + i) % 27:02d}', {(k * 53 + i * 7) % 900}.5, 'c{(k + i) % 11}')" for k in range(1, rows + 1)
    )
    return f"SELECT * FROM (VALUES {values}) AS rows_of_source (id, part, day, amount, customer)\n"


def staged(i, of):
    return (
        f"WITH cleaned AS (SELECT id, part, day, CAST(amount AS DOUBLE) AS amount, upper(customer) AS customer FROM {of} WHERE amount > {i % 3})\n"
        f"SELECT id, part, day, amount * {2 + i % 5} AS amount, customer, CASE WHEN amount < {100 + i % 400} THEN 'small' ELSE 'large' END AS size\n"
        "FROM cleaned\n"
    )


def joined(inputs):
    aliases = [f"t{j}" for j in range(len(inputs))]
    total = " + ".join(f"coalesce({a}.amount, 0)" for a in aliases)
    joins = "".join(f"LEFT JOIN {name} AS {a} ON {a}.id = t0.id\n" for name, a in list(zip(inputs, aliases))[1:])
    return (
        f"SELECT t0.id, t0.part, t0.day, {total} AS amount, {aliases[-1]}.size AS size, t0.customer || '/' || coalesce(t1.customer, '') AS customer,\n"
        "  rank() OVER (PARTITION BY t0.part ORDER BY t0.id) AS place\n"
        f"FROM {inputs[0]} AS t0\n{joins}"
    )


def summed(left, right):
    return (
        "SELECT l.part, l.day, count(*) AS rows_seen, sum(l.amount) AS amount, max(r.amount) AS largest, avg(l.amount - r.amount) AS gap,\n"
        f"  min(r.size) AS size\nFROM {left} AS l JOIN {right} AS r ON r.id = l.id\nGROUP BY l.part, l.day\n"
    )


def models(n, rows=8):
    """(schema, name, sql) in an order in which every model follows what it reads."""
    draw = random.Random(20260301)
    if n == 1:
        return [("src", "src_00000", source(0, rows))]
    sources = max(2, n // 10)
    stages = max(4, n * 3 // 10)
    sums = max(1, n // 5)
    joins = n - sources - stages - sums
    made = [("src", f"src_{i:05d}", source(i, rows)) for i in range(sources)]
    made += [("stg", f"stg_{i:05d}", staged(i, f"src.src_{i % sources:05d}")) for i in range(stages)]
    for i in range(joins):
        inputs = [f"stg.stg_{k:05d}" for k in draw.sample(range(stages), draw.randint(2, min(4, stages)))]
        if i % 4 == 3:
            inputs[-1] = f"itm.itm_{draw.randint(max(0, i - 40), i - 1):05d}"
        made.append(("itm", f"itm_{i:05d}", joined(inputs)))
    for i in range(sums):
        left, right = draw.sample(range(joins), 2) if joins > 1 else (0, 0)
        made.append(("mart", f"mart_{i:05d}", summed(f"itm.itm_{left:05d}", f"itm.itm_{right:05d}")))
    return made


def write_project(folder, n, extra="", owned=False, rows=8):
    """`owned`: without headers, so that weir owns the tables and shows views."""
    config = f"name: dag\nlakes:\n  main:\n    catalog: lake/main.sqlite\n    data: lake/main\nstate: .weir/state.sqlite\n{extra}"
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "weir.yaml"), "w", encoding="utf-8") as file:
        file.write(config)
    for schema, name, sql in models(n, rows):
        path = os.path.join(folder, "models", schema, name + ".sql")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(sql if owned else f"-- materialize ducklake://main/{schema}.{name}\n{sql}")


def floor_script(path, n, lake):
    """The same statements by hand, all in one transaction."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(attach(lake))
        file.write("-- part work\nBEGIN\n;\n")
        for schema in ("src", "stg", "itm", "mart"):
            file.write(f"CREATE SCHEMA IF NOT EXISTS {schema}\n;\n")
        for schema, name, sql in models(n):
            file.write(f"CREATE OR REPLACE TABLE {schema}.{name} AS {sql}\n;\n")
        file.write("COMMIT\n;\n")


def attach(lake):
    return (
        f"-- part attach\nATTACH 'ducklake:sqlite:{lake}/main.sqlite' AS lake "
        f"(DATA_PATH '{lake}/data/', DATA_INLINING_ROW_LIMIT 0, META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT 10000)\n;\nUSE lake\n;\n"
    )
