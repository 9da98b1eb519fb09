"""Other tools on the same projects as weir and the floor: what each calls the models, and the command of each piece of work.

`bench/run --peers FOLDER` measures those that `bench/install_peers FOLDER` put there. All write a DuckLake with a catalog in a file of
their own kind; the SQL is the same but for how a model names another and, in SQLMesh, a day.
"""
import json
import os
import re

import dag
import events

LIMIT = 300  # seconds; a command that takes longer is ended
ENVIRONMENT = ("DO_NOT_TRACK=1", "DBT_PROFILES_DIR=.", "DBT_SEND_ANONYMOUS_USAGE_STATS=false", "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS=1")


def write(folder, path, text):
    path = os.path.join(str(folder), path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class Peer:
    """One tool. Its commands are lists of arguments; `work` is cold, nothing, new, again (with days) or environment."""

    name, program, models = "", "", "models"

    def __init__(self, folder):
        self.home = os.path.join(str(folder), "home")
        self.binary = os.path.join(str(folder), f"venv-{self.name}", "bin", self.program)

    def command(self, arguments):
        return ["env", f"HOME={self.home}", *ENVIRONMENT, "timeout", "-k", "5", str(LIMIT), self.binary, *arguments]

    def refer(self, sql, names, spell):
        return re.sub(rf"\b(?:\w+\.)?({'|'.join(names)})\b(?=\s|$)", lambda found: spell(found.group(1)), sql)


class Interlace(Peer):
    name, program = "interlace", "interlace"
    CONFIG = "name: {}\ndefault_dialect: duckdb\ndatabase: ducklake:.interlace/warehouse.ducklake\n"

    def write_events(self, folder, rows):
        write(folder, "interlace.yaml", self.CONFIG.format("events"))
        for name, kind, key, sql in events.MODELS:
            header = events.HEADERS[kind].replace("incremental_by_time", "incremental").format(key=key)
            query = events.query_of(sql, rows, events.SOURCE.format(place=f"{folder}/"))
            write(folder, f"models/{name}.sql", (f"/* interlace:\n  {header}\n*/\n" if header else "") + query + "\n")

    def write_dag(self, folder, n):
        write(folder, "interlace.yaml", self.CONFIG.format("dag"))
        for schema, name, sql in dag.models(n):
            write(folder, f"models/{schema}/{name}.sql", sql)

    def work(self, what, days=None):
        if what in ("new", "again"):
            verb = "run" if what == "new" else "restate"
            return [verb, "--start", events.name_of(days[0]), "--end", events.name_of(days[1])]
        return ["apply", *(["--env", "dev"] if what == "environment" else [])]


class SqlMesh(Peer):
    name, program = "sqlmesh", "sqlmesh"
    CONFIG = (
        "gateways:\n  local:\n    connection:\n      type: duckdb\n      catalogs:\n        lake:\n          type: ducklake\n          path: lake.ducklake\n"
        "          data_path: data\n    state_connection:\n      type: duckdb\n      database: state.duckdb\ndefault_gateway: local\n"
        "disable_anonymized_analytics: true\nmodel_defaults:\n  dialect: duckdb\n  start: 2026-06-01\n"
    )
    KINDS = {
        "days": "INCREMENTAL_BY_TIME_RANGE (time_column day)", "whole": "FULL", "merge": "INCREMENTAL_BY_UNIQUE_KEY (unique_key {key})",
        "history": "SCD_TYPE_2_BY_COLUMN (unique_key {key}, columns [tier])", "view": "VIEW",
    }

    def write_events(self, folder, rows):
        write(folder, "config.yaml", self.CONFIG)
        names = [name for name, *_ in events.MODELS]
        for name, kind, key, sql in events.MODELS:
            query = events.query_of(sql, rows, events.SOURCE.format(place=f"{folder}/"), "\nWHERE day BETWEEN @start_ds AND @end_ds")
            head = f"MODEL (name ev.{name}, kind {self.KINDS[kind].format(key=key)}, cron '@daily', start '{events.FIRST}');\n\n"
            write(folder, f"models/{name}.sql", head + self.refer(query, names, lambda one: f"ev.{one}") + "\n")

    def write_dag(self, folder, n):
        write(folder, "config.yaml", self.CONFIG)
        for schema, name, sql in dag.models(n):
            write(folder, f"models/{schema}/{name}.sql", f"MODEL (name {schema}.{name}, kind FULL);\n\n{sql}")

    def work(self, what, days=None):
        # The plan after the new day knows of it; the one before does not.
        clock = events.name_of(events.DAYS + (what in ("new", "again", "environment")))
        verb = {
            "new": ["plan", "--run"],
            "again": ["plan", "-r", "ev.ev_clean", "-s", events.name_of(days[0]), "-e", events.name_of(days[1] - 1)] if days else [],
            "environment": ["plan", "dev", "--include-unmodified"],
        }.get(what, ["plan"])
        return [*verb, "--execution-time", f"{clock} 00:00:00", "--no-prompts", "--auto-apply"]


class Dbt(Peer):
    name, program = "dbt", "dbt"
    PROJECT = "name: {0}\nversion: '1.0'\nprofile: bench\nflags:\n  send_anonymous_usage_stats: false\nmodels:\n  {0}:\n    +materialized: table\n"
    OUTPUT = "    {0}:\n      type: duckdb\n      path: 'ducklake:lake.ducklake'\n      threads: 2\n      extensions: [ducklake]\n      is_ducklake: true\n      schema: {0}\n"
    KINDS = {
        "days": "materialized='incremental', incremental_strategy='microbatch', event_time='day', begin='{first}', batch_size='day', lookback=0",
        "whole": "materialized='table'", "merge": "materialized='incremental', incremental_strategy='merge', unique_key='{key}'", "view": "materialized='view'",
        "history": "unique_key='{key}', strategy='check', check_cols=['tier']",
    }

    def write_project(self, folder, name):
        write(folder, "dbt_project.yml", self.PROJECT.format(name))
        write(folder, "profiles.yml", "bench:\n  target: prod\n  outputs:\n" + self.OUTPUT.format("prod") + self.OUTPUT.format("dev"))

    def write_events(self, folder, rows):
        self.write_project(folder, "events")
        source = {"name": "ev", "config": {"event_time": "day", "meta": {"external_location": events.SOURCE.format(place=f"{folder}/")}}}
        write(folder, "models/sources.yml", json.dumps({"version": 2, "sources": [{"name": "raw", "tables": [source]}]}))
        names = [name for name, *_ in events.MODELS]
        for name, kind, key, sql in events.MODELS:
            query = self.refer(events.query_of(sql, rows, "{{ source('raw', 'ev') }}"), names, lambda one: f"{{{{ ref('{one}') }}}}")
            config = "{{ config(" + self.KINDS[kind].format(key=key, first=events.FIRST) + ") }}\n"
            if kind == "history":
                write(folder, f"snapshots/{name}.sql", f"{{% snapshot {name} %}}\n{config}{query}\n{{% endsnapshot %}}\n")
            else:
                write(folder, f"models/{name}.sql", f"{config}{query}\n")

    def write_dag(self, folder, n):
        self.write_project(folder, "dag")
        names = [name for _, name, _ in dag.models(n)]
        for schema, name, sql in dag.models(n):
            write(folder, f"models/{schema}/{name}.sql", self.refer(sql, names, lambda one: f"{{{{ ref('{one}') }}}}"))

    def work(self, what, days=None):
        # Nothing to do is not known to it: it reads the project, and would build all of it.
        if what == "nothing":
            return ["parse"]
        begin, end = days or (0, events.DAYS)
        target = ["--target", "dev"] if what == "environment" else []
        return ["build", *target, "--event-time-start", events.name_of(begin), "--event-time-end", events.name_of(end)]


def installed(folder):
    """The peers whose program is in the folder."""
    peers = [kind(folder) for kind in (Interlace, SqlMesh, Dbt)]
    return [peer for peer in peers if os.access(peer.binary, os.X_OK)]
