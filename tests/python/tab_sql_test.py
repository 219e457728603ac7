#!/usr/bin/env python3
"""Does SQL in the TensorBoard tab answer as docs/sql.md says, and reach nothing but the tables?

    tab_sql_test.py [NAME...]

Each method is a CTest test python.NAME. Needs DuckDB.
"""

import concurrent.futures
import gc
import json
import pathlib
import sys
import tempfile
import time
import unittest
import unittest.mock

import tbtrace
from tbtrace import _sql
from tbtrace.tab import sql
from tbtrace.tab.refusal import Refusal

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/data"


class TabSql(unittest.TestCase):
    def setUp(self):
        self.trace = tbtrace.read(DATA / "gpu_step.json", arguments=tbtrace.ARGUMENT_GROUPS)
        self.sql = sql.Sql()
        self.addCleanup(lambda: self.sql.close())
        self.reads = 0

    def rows(self, query, key="one"):
        def read():
            self.reads += 1
            return self.trace

        table = json.loads(self.sql.answer(key, read, query))["table"]
        columns = [
            [column["texts"][value] if "texts" in column and value is not None else value for value in column["values"]]
            for column in table["columns"]
        ]
        return [tuple(row) for row in zip(*columns)], table

    def refused(self, query):
        with self.assertRaises(Refusal) as caught:
            self.rows(query)
        self.assertEqual(400, caught.exception.status)
        return caught.exception.sentence

    def test_tab_sql_answers_as_sql_of_a_trace_does(self):
        for query in (
            "select short_name, total_ns from kernels order by total_ns desc",
            "select step, operator, total_ns from kernels_by_step_operator order by total_ns desc, operator",
            "select name, kind, start_ns, self_time_ns from events order by event",
            "select k.short_name, count(*) from kernels k join events e on e.name = k.name group by all order by 1",
            "with t as (select 1 as a union all select null) select a, a is null as b from t order by a",
            "select sum(total_ns) as total_ns, avg(total_ns), 'nan'::double from kernels",
        ):
            with self.subTest(query):
                expected = [
                    tuple(None if value != value else value for value in row)
                    for row in self.trace.sql(query).fetchall()
                ]
                self.assertEqual(expected, self.rows(query)[0])

    def test_tab_sql_is_quick_with_a_process_that_waits(self):
        self.sql = sql.Sql(is_quick=True)
        self.sql.prepare()
        self.sql.prepare()
        for number in range(4):
            (waiting,) = self.sql._waiting
            if number == 1:
                waiting.kill()
                waiting.wait()
            self.assertEqual([(number, 4)], self.rows(f"select {number}, count(*) from kernels")[0])
            self.assertIsNotNone(waiting.returncode, "each answers one query")
            self.refused("select * from read_text('/etc/passwd')")
        (waiting,) = self.sql._waiting
        folder = pathlib.Path(self.sql._folder.name)
        self.sql.close()
        self.assertFalse(folder.exists())
        self.sql = sql.Sql()
        gc.collect()
        self.assertIsNotNone(waiting.poll(), "it ends with the object")

    def test_tab_sql_has_types_and_columns_of_one_name(self):
        rows, table = self.rows(
            "select 9007199254740993 as a, true as b, [1, 2] as c, 'x' as d, 2 as d, null as e, repeat('y', 900) as f"
        )
        self.assertEqual([("9007199254740993", True, "[1, 2]", "x", 2, None, "y" * 499 + "\u2026")], rows)
        self.assertEqual(["a", "b", "c", "d", "d_2", "e", "f"], [column["key"] for column in table["columns"]])
        rows, table = self.rows(f"select range from range({sql.MOST_ROWS + 1})")
        self.assertEqual(sql.MOST_ROWS, len(rows))
        self.assertIn("first 5,000 rows", table["notes"][0])
        self.assertEqual([], self.rows(f"select range from range({sql.MOST_ROWS})")[1]["notes"])
        self.assertEqual(0, self.rows("select 1 as a where false")[1]["rows"])

    def test_tab_sql_reads_and_writes_no_file(self):
        with tempfile.TemporaryDirectory() as folder:
            secret = pathlib.Path(folder) / "secret.csv"
            secret.write_text("word\nnobody-may-read-this\n", encoding="utf-8")
            made = pathlib.Path(folder) / "made"
            queries = [
                f"select * from '{secret}'",
                f"select * from read_csv('{secret}')",
                f"select * from read_text('{secret}')",
                f"select * from read_blob('{secret}')",
                f"select * from glob('{folder}/*')",
                f"select * from sniff_csv('{secret}')",
                f"copy (select 1) to '{made}'",
                f"attach '{made}'; select 1",
                f"export database '{made}'",
                "install httpfs; select 1",
                "load httpfs; select 1",
                "select * from 'https://127.0.0.1/x.csv'",
                "set enable_external_access=true; select 1",
                "set lock_configuration=false; select 1",
                "set memory_limit='100GB'; select 1",
                "create table x as select 1; select * from x",
                "drop table kernels; select 1",
                "insert into kernels select * from kernels; select 1",
                f"pragma enable_profiling; pragma profiling_output='{made}'; select 1",
                "call enable_logging(storage='file'); select 1",
                "select * from duckdb_secrets()",
                "select * from arrow_scan(1::pointer, 1::pointer, 1::pointer)",
                "select * from self",
                "select * from sys",
            ]
            self.rows("select 1 from kernels")
            for query in queries:
                with self.subTest(query):
                    sentence = self.refused(query)
                    self.assertNotIn("nobody-may-read-this", sentence)
                    self.assertNotIn("Traceback", sentence)
            self.assertEqual([secret], list(pathlib.Path(folder).iterdir()))
        self.assertEqual(4, self.rows("select count(*) from kernels")[0][0][0])

    def test_tab_sql_is_bounded(self):
        before = time.monotonic()
        with unittest.mock.patch.object(sql, "MOST_SECONDS", 1.0):
            sentence = self.refused("select sum(a.range * b.range) from range(1000000) a, range(10000000) b")
        self.assertIn("took longer than 1 s", sentence)
        self.assertLess(time.monotonic() - before, 30)
        for query in (
            "select length(repeat('x', 4000000000))",
            "select count(*) from (select repeat('x', 1000000) s from range(3000) order by s)",
        ):
            with self.subTest(query):
                self.assertIn("needs more than", self.refused(query))
        self.assertIn("longer than", self.refused("select 1 -- " + "x" * sql.LONGEST_QUERY))

    def test_tab_sql_makes_the_tables_that_a_query_names(self):
        def made():
            return {name for database in self.sql._databases.values() for name in database.names}

        self.rows("select 'gaps', \"name\", 'it''s steps' /* from memory\n */ from \"kernels\" -- join operators")
        self.assertEqual({"kernels"}, made())
        self.rows("select e'\\' from gaps', count(*) from steps")
        self.assertEqual({"kernels", "steps"}, made())
        names = [name for name, _ in _sql.tables_of_traces()][: sql.MOST_TABLES + 1]
        self.assertIn("17 tables", self.refused("select " + ", ".join(names)))
        with unittest.mock.patch.object(sql, "MOST_SECONDS", -1.0):
            self.assertIn("takes too long", self.refused("select count(*) from gaps"))
        self.assertEqual({"kernels", "steps"}, made())

    def test_tab_sql_says_what_is_wrong(self):
        self.assertIn("the tables are operators", self.refused("select * from nothing"))
        self.assertIn("short_name", self.refused("select shortname from kernels"))
        self.assertIn("takes a select", self.refused(""))
        self.assertIn("syntax error", self.refused("selec 1"))
        with unittest.mock.patch("importlib.util.find_spec", return_value=None), self.assertRaises(Refusal) as caught:
            self.rows("select 1")
        self.assertEqual(501, caught.exception.status)
        self.assertIn("pip install duckdb", caught.exception.sentence)

    def test_tab_sql_of_several_at_once(self):
        def ask(number):
            return self.rows(f"select {number}, count(*) from kernels", key=number % 6)[0]

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            self.assertEqual([[(number, 4)] for number in range(12)], list(pool.map(ask, range(12))))
        removed = next(iter(self.sql._databases.values()))
        removed.remove()
        self.assertEqual([(4,)], self.rows("select count(*) from kernels", key=next(iter(self.sql._databases)))[0])
        folder = pathlib.Path(self.sql._folder.name)
        self.assertLessEqual(len(list(folder.glob("*.duckdb"))), 4, "databases that were not used lately are removed")
        self.assertEqual(0o700, folder.stat().st_mode & 0o777)

    def test_tab_sql_names_its_tables(self):
        document = json.loads(sql.tables())
        names = {table["name"]: table["columns"] for table in document["tables"]}
        self.assertTrue(document["has_duckdb"])
        self.assertIn("total_ns", names["kernels"])
        for name in names:
            with self.subTest(name):
                table, problem = _sql.table_named(name, self.trace)
                self.assertTrue(table is not None or problem)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *(f"TabSql.test_{name}" for name in sys.argv[1:])])
