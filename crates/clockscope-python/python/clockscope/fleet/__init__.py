"""A fleet's clocks: records of `clockscope check` as Parquet tables, and questions to them in SQL.

The command `clockscope-fleet` is the interface; `schema.sql` beside this file has the tables,
`queries/` the questions. DuckDB ingests. DuckDB or Spark answer, with the same SQL.
"""

from __future__ import annotations
