"""Events in 30 daily Parquet folders and one more, and twelve models over them, the same SQL for weir and for the floor.

Five models are written by days (the cleaned events and four aggregates of them), four as a whole, one merges its 100,000 keys, one keeps
their history, one is a view. The floor sends one statement a model (two for a day that is written again) on one connection.
"""
import os
import shutil

import dag

FIRST = "2026-06-01"
DAYS = 30
USERS = 100_000
SOURCE = "read_parquet('{place}ev/*/*.parquet', hive_partitioning = true)"

# name, how it is written, key, query; {W} is where the floor says which days are meant.
MODELS = [
    ("ev_clean", "days", "", "SELECT CAST(event_id AS BIGINT) AS event_id, CAST(user_id AS BIGINT) AS user_id, CAST(product_id AS BIGINT) AS product_id,\n"
     "  device, amount, ts, CAST(day AS DATE) AS day,\n"
     "  CASE WHEN amount >= 80 THEN 'high' WHEN amount >= 40 THEN 'mid' ELSE 'low' END AS band\nFROM {SOURCE}{W}"),
    ("daily_revenue", "days", "", "SELECT day, count(*) AS events, sum(amount) AS revenue\nFROM ev_clean{W}\nGROUP BY day"),
    ("daily_device", "days", "", "SELECT day, device, band, count(*) AS events, sum(amount) AS revenue, avg(amount) AS ticket\nFROM ev_clean{W}\nGROUP BY day, device, band"),
    ("daily_product", "days", "", "SELECT day, product_id, count(*) AS events, sum(amount) AS revenue\nFROM ev_clean{W}\nGROUP BY day, product_id"),
    ("daily_user", "days", "", "SELECT day, user_id, count(*) AS events, sum(amount) AS spend, max(ts) AS last_seen\nFROM ev_clean{W}\nGROUP BY day, user_id"),
    ("by_user", "whole", "", "SELECT user_id, CAST(sum(events) AS BIGINT) AS events, sum(spend) AS spend, max(last_seen) AS last_seen\nFROM daily_user\nGROUP BY user_id"),
    ("by_product", "whole", "", "SELECT product_id, CAST(sum(events) AS BIGINT) AS events, sum(revenue) AS revenue\nFROM daily_product\nGROUP BY product_id"),
    ("by_device", "whole", "", "SELECT device, CAST(sum(events) AS BIGINT) AS events, sum(revenue) AS revenue\nFROM daily_device\nGROUP BY device"),
    ("customers", "merge", "user_id", "SELECT user_id, events, spend, last_seen\nFROM by_user"),
    ("customer_history", "history", "user_id", "SELECT user_id, CASE WHEN spend >= {GOLD} THEN 'gold' WHEN spend >= {SILVER} THEN 'silver' ELSE 'bronze' END AS tier\nFROM by_user"),
    ("top_products", "view", "", "SELECT product_id, revenue\nFROM by_product\nORDER BY revenue DESC\nLIMIT 20"),
    ("revenue_report", "whole", "", "SELECT day, events, revenue, avg(revenue) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS revenue_7d\nFROM daily_revenue"),
]

HEADERS = {
    "days": "strategy: incremental_by_time\n  time_column: day\n  interval: 1d",
    "whole": "",
    "merge": "strategy: merge\n  key: {key}",
    "history": "strategy: scd\n  key: {key}",
    "view": "materialise: view",
}


def date(day):
    return f"DATE '{FIRST}' + {day}"


def name_of(day):
    return f"2026-06-{day + 1:02d}" if day < DAYS else f"2026-07-{day - DAYS + 1:02d}"


def day_sql(day, rows, shift=0):
    """The events of one day; `shift` makes other amounts of the same events."""
    share = rows // DAYS
    return (
        f"SELECT i AS event_id, hash(i) % {USERS} AS user_id, hash(i + 1) % 5000 AS product_id, "
        "CASE hash(i + 2) % 4 WHEN 0 THEN 'ios' WHEN 1 THEN 'android' WHEN 2 THEN 'web' ELSE 'tv' END AS device, "
        f"(1000 + (hash(i + 3) + {shift}) % 9000) / 100.0::DOUBLE AS amount, "
        f"CAST({date(day)} AS TIMESTAMP) + to_seconds(CAST(hash(i + 4) % 86400 AS BIGINT)) AS ts FROM range({day * share}, {(day + 1) * share}) AS r (i)"
    )


def copy_day(folder, day, rows, shift=0):
    """Makes the folder of the day and returns the statement that fills it."""
    place = os.path.join(str(folder), f"day={name_of(day)}")
    os.makedirs(place, exist_ok=True)
    return f"COPY ({day_sql(day, rows, shift)}) TO '{place}/data.parquet' (FORMAT parquet)"


def query_of(sql, rows, source, where=""):
    # As many are gold and silver whatever the number of rows is.
    spend = rows / USERS * 55
    return sql.format(SOURCE=source, W=where, GOLD=f"{spend * 1.06:.0f}", SILVER=f"{spend * 0.94:.0f}")


def write_project(folder, rows):
    with open(os.path.join(folder, "weir.yaml"), "w", encoding="utf-8") as file:
        file.write("name: events\nlakes:\n  main:\n    catalog: lake/main.sqlite\n    data: lake/main\nstate: .weir/state.sqlite\n")
    os.makedirs(os.path.join(folder, "models"), exist_ok=True)
    for name, kind, key, sql in MODELS:
        header = HEADERS[kind].format(key=key)
        with open(os.path.join(folder, "models", name + ".sql"), "w", encoding="utf-8") as file:
            file.write((f"/*\nweir:\n  {header}\n*/\n" if header else "") + query_of(sql, rows, SOURCE.format(place="")) + "\n")


def link_source(source, folder):
    """The days' files, without copying them."""
    shutil.copytree(source, folder, copy_function=os.link, dirs_exist_ok=True)


def replace_day(source, folder, day):
    place = os.path.join(str(folder), f"day={name_of(day)}", "data.parquet")
    os.unlink(place)
    os.link(os.path.join(str(source), f"day={name_of(day)}", "data.parquet"), place)


def floor_statements(folder, rows, days=None):
    """What is sent by hand: a first build partitioned by day, or `days` (first, behind the last) again."""
    where = f"\nWHERE day >= {date(days[0])} AND day < {date(days[1])}" if days else ""
    statements = [dag.attach(str(folder)).rstrip(";\n "), "-- part work\n", "BEGIN"]
    for name, kind, key, sql in MODELS:
        query = query_of(sql, rows, SOURCE.format(place=f"{folder}/"), where)
        if kind == "days" and not days:
            statements += [f"CREATE TABLE {name} AS FROM ({query}) LIMIT 0", f"ALTER TABLE {name} SET PARTITIONED BY (day)", f"INSERT INTO {name} {query}"]
        elif kind == "days":
            statements += [f"DELETE FROM {name} WHERE day >= {date(days[0])} AND day < {date(days[1])}", f"INSERT INTO {name} {query}"]
        elif kind == "whole":
            statements.append(f"CREATE OR REPLACE TABLE {name} AS {query}")
        elif kind == "view":
            statements.append(f"CREATE OR REPLACE VIEW {name} AS {query}")
        elif not days:
            versions = ", CAST(now() AS TIMESTAMP) AS valid_from, CAST(NULL AS TIMESTAMP) AS valid_to" if kind == "history" else ""
            statements.append(f"CREATE TABLE {name} AS SELECT *{versions} FROM ({query})")
        elif kind == "merge":
            statements.append(f"MERGE INTO {name} AS t USING ({query}) AS s ON (t.{key} = s.{key}) WHEN MATCHED THEN UPDATE WHEN NOT MATCHED THEN INSERT")
        else:
            statements += [
                f"CREATE OR REPLACE TEMP TABLE fresh AS SELECT s.* FROM ({query}) AS s LEFT JOIN (FROM {name} WHERE valid_to IS NULL) AS t ON (t.{key} = s.{key}) "
                f"WHERE t.{key} IS NULL OR t.tier IS DISTINCT FROM s.tier",
                f"UPDATE {name} SET valid_to = CAST(now() AS TIMESTAMP) WHERE valid_to IS NULL AND {key} IN (SELECT {key} FROM fresh)",
                f"INSERT INTO {name} SELECT *, CAST(now() AS TIMESTAMP), NULL FROM fresh",
            ]
    return [*statements, "COMMIT"]


def floor_environment(folder):
    views = [f"CREATE VIEW dev.{name} AS FROM main.{name}" for name, *_ in MODELS]
    return [dag.attach(str(folder)).rstrip(";\n "), "-- part work\n", "BEGIN", "CREATE SCHEMA dev", *views, "COMMIT"]


# What both must hold in the end: of every table rows and sums that any difference would show.
CHECK = (
    "SELECT concat_ws(' ', (SELECT count(*) FROM ev_clean), (SELECT CAST(round(sum(amount) * 100) AS BIGINT) FROM ev_clean), (SELECT count(*) FROM daily_device), "
    "(SELECT count(*) FROM daily_product), (SELECT count(*) FROM daily_user), (SELECT CAST(sum(events) AS BIGINT) FROM by_user), (SELECT count(*) FROM by_product), "
    "(SELECT CAST(sum(events) AS BIGINT) FROM by_device), (SELECT CAST(round(sum(spend)) AS BIGINT) FROM customers), (SELECT count(*) FROM top_products), "
    "(SELECT CAST(round(sum(revenue)) AS BIGINT) FROM revenue_report), (SELECT count(DISTINCT user_id) FROM customer_history)) AS seen"
)
