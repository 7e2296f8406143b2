"""The SQL that makes checks of parsed lines, refuses what is no whole check, and joins old and new."""

from __future__ import annotations

from typing import Final

from clockscope.fleet._columns import CHECK, CLOCK

_BEFORE_THE_PROGRAM: Final = "2026-01-01"
_TIME: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"
"""A time as the program writes it; strptime() takes more."""

_TRIES_DAYS: Final = 7

FILES: Final = """
CREATE TABLE files AS
SELECT no, day_no, name, sha256, listed.size, tried_until, ingested.name IS NULL AS is_new,
    coalesce(tried_until >= CAST(getvariable('now') AS DATE), ingested.name IS NULL) AS is_read
FROM {listing} AS listed LEFT JOIN ingested USING (name, sha256)
"""
"""The folder's files. Known ones are read again for some days if lines of their checks are missing."""

COMPLETE: Final = """
CREATE TABLE lines AS
SELECT host, check_id, 'environment' AS type, NULL AS clock, line_hash, file, pos, wrong FROM environments
UNION ALL
SELECT verdicts.host, verdicts.check_id, 'verdict', verdicts.clock, line_hash, verdicts.file, verdicts.pos,
    coalesce(verdicts.wrong, CASE WHEN lacks_evidence THEN 'evidence is not a list' END, of_items.wrong)
FROM verdicts LEFT JOIN (SELECT file, line_pos, min(wrong) AS wrong FROM items GROUP BY file, line_pos) AS of_items
    ON of_items.file = verdicts.file AND of_items.line_pos = verdicts.pos
UNION ALL
SELECT host, check_id, 'end', NULL, line_hash, file, pos, wrong FROM ends;

-- The same line may be in several files, as a copy.
CREATE TABLE firsts AS
SELECT * FROM lines QUALIFY row_number() OVER (PARTITION BY host, check_id, type, line_hash ORDER BY file, pos) = 1;
"""
"""All lines of checks, each once, with what is wrong with them."""

JUDGED: Final = f"""
CREATE TABLE judged AS
WITH counted AS (
    SELECT host, check_id, count(*) FILTER (type = 'environment') AS environments,
        count(*) FILTER (type = 'verdict') AS verdicts, count(DISTINCT clock) AS clocks_seen,
        count(*) FILTER (type = 'end') AS ends, min(wrong) AS wrong, count(*) AS all_lines,
        coalesce(min(file) FILTER (type = 'environment'), min(file)) AS file, min(pos) AS first_line,
        bool_or(is_new) AS is_new
    FROM firsts JOIN files ON files.no = firsts.file GROUP BY host, check_id
), recorded AS (
    SELECT host, check_id, any_value(clocks) AS clocks,
        any_value(try_strptime(regexp_extract(recorded_text, '^{_TIME}$'), '%Y-%m-%dT%H:%M:%SZ')) AS recorded_at
    FROM environments GROUP BY host, check_id
), ended AS (SELECT host, check_id, any_value(end_lines) AS end_lines FROM ends GROUP BY host, check_id)
SELECT counted.check_id, counted.host, recorded_at, file, first_line, all_lines, is_new,
    CASE WHEN recorded_at BETWEEN TIMESTAMP '{_BEFORE_THE_PROGRAM}' AND getvariable('now') + INTERVAL 1 DAY
        THEN CAST(date_diff('day', DATE '1970-01-01', CAST(recorded_at AS DATE)) AS INTEGER) END AS day_no,
    CASE
        WHEN wrong IS NOT NULL THEN 'wrong_type'
        WHEN environments > 1 OR ends > 1 OR verdicts > clocks OR clocks_seen < verdicts THEN 'doubled'
        WHEN environments = 0 OR ends = 0 OR verdicts < clocks OR end_lines <> verdicts + 1 THEN 'cut_off'
        WHEN recorded_at IS NULL THEN 'wrong_type'
        WHEN recorded_at < TIMESTAMP '{_BEFORE_THE_PROGRAM}' OR recorded_at > getvariable('now') + INTERVAL 1 DAY THEN 'clock_wrong'
    END AS reason,
    CASE
        WHEN wrong IS NOT NULL THEN wrong
        WHEN environments > 1 OR ends > 1 OR verdicts > clocks OR clocks_seen < verdicts
            THEN 'two checks of one number, or two verdicts on one clock'
        WHEN environments = 0 THEN 'the first line of a check is missing'
        WHEN ends = 0 THEN 'the last line of a check is missing'
        WHEN verdicts < clocks OR end_lines <> verdicts + 1
            THEN 'verdicts on ' || verdicts || ' of ' || clocks || ' clocks'
        WHEN recorded_at IS NULL THEN 'recorded_at is not a time such as 2026-10-31T12:00:00Z'
        ELSE 'recorded at ' || strftime(recorded_at, '%Y-%m-%d') || ' by its clock'
    END AS detail
FROM counted
LEFT JOIN recorded ON recorded.host IS NOT DISTINCT FROM counted.host AND recorded.check_id IS NOT DISTINCT FROM counted.check_id
LEFT JOIN ended ON ended.host IS NOT DISTINCT FROM counted.host AND ended.check_id IS NOT DISTINCT FROM counted.check_id;

CREATE TABLE lines_judged AS
SELECT lines.file, judged.reason, judged.is_new
FROM lines JOIN judged ON judged.host IS NOT DISTINCT FROM lines.host AND judged.check_id IS NOT DISTINCT FROM lines.check_id;

CREATE TABLE replaced AS
SELECT name FROM files WHERE is_new OR no IN (SELECT file FROM lines_judged WHERE is_new);
"""
"""The checks that are whole, and the reasons why others are not. The variable `now` is the time of the ingest.

A check is new if a line of it is in a new file. `replaced` are the files whose rejects are replaced.
"""

_CHECK_COLUMNS: Final = ", ".join(
    f"environments.{column.name}" for column in CHECK if column.name not in ("check_id", "host", "recorded_text")
)
_CLOCK_COLUMNS: Final = ", ".join(f"verdicts.{column.name}" for column in CLOCK if column.name not in ("check_id", "host"))

NEW: Final = f"""
CREATE TABLE new_checks AS
WITH counters AS (
    SELECT verdicts.host, verdicts.check_id, max(items.hz) AS counter_hz, max(items.bound_ppm) AS counter_bound_ppm
    FROM items JOIN verdicts ON verdicts.file = items.file AND verdicts.pos = items.line_pos
    WHERE items.kind = 'nominal_frequency' GROUP BY verdicts.host, verdicts.check_id
)
SELECT judged.check_id, judged.host, judged.day_no, judged.recorded_at, {{version}} AS schema_version,
    {_CHECK_COLUMNS}, counter_hz, counter_bound_ppm
FROM judged
JOIN firsts ON firsts.host = judged.host AND firsts.check_id = judged.check_id AND firsts.type = 'environment'
JOIN environments ON environments.file = firsts.file AND environments.pos = firsts.pos
LEFT JOIN counters ON counters.host = judged.host AND counters.check_id = judged.check_id
WHERE judged.reason IS NULL AND judged.is_new
QUALIFY row_number() OVER (PARTITION BY judged.host, judged.day_no ORDER BY judged.recorded_at DESC, judged.check_id DESC)
    = 1;

CREATE TABLE new_evidence AS
SELECT new_checks.host, new_checks.day_no, verdicts.clock, items.*
    REPLACE (items.failures + coalesce(items.behind, 0) AS failures,
        CASE WHEN items.finding = 'against' THEN items.text END AS text,
        CASE WHEN items.finding = 'against' THEN items.advice END AS advice)
FROM new_checks
JOIN firsts
    ON firsts.host = new_checks.host AND firsts.check_id = new_checks.check_id AND firsts.type = 'verdict'
JOIN verdicts ON verdicts.file = firsts.file AND verdicts.pos = firsts.pos
JOIN items ON items.file = firsts.file AND items.line_pos = firsts.pos;

CREATE TABLE new_clocks AS
WITH found AS (
    SELECT host, day_no, clock, count(*) FILTER (finding = 'for') AS findings_for,
        count(*) FILTER (finding = 'against') AS findings_against,
        count(*) FILTER (finding = 'unknown') AS findings_unknown,
        max(cost_ns) AS cost_p50_ns, max(p99_ns) AS cost_p99_ns, max(syscall_ns) AS syscall_ns
    FROM new_evidence GROUP BY host, day_no, clock
)
SELECT new_checks.host, new_checks.day_no, new_checks.kernel, new_checks.clocksource, {_CLOCK_COLUMNS},
    cost_p50_ns, cost_p99_ns, syscall_ns, coalesce(findings_for, 0) AS findings_for,
    coalesce(findings_against, 0) AS findings_against, coalesce(findings_unknown, 0) AS findings_unknown
FROM new_checks
JOIN firsts
    ON firsts.host = new_checks.host AND firsts.check_id = new_checks.check_id AND firsts.type = 'verdict'
JOIN verdicts ON verdicts.file = firsts.file AND verdicts.pos = firsts.pos
LEFT JOIN found ON found.host = new_checks.host AND found.day_no = new_checks.day_no AND found.clock = verdicts.clock;

CREATE TABLE new_costs AS
SELECT host, day_no, clock, pair[1] AS bin, pair[2] AS batches
FROM (SELECT host, day_no, clock, unnest(histogram) AS pair FROM new_evidence WHERE kind = 'cost');

CREATE TABLE new_rejects AS
WITH parts AS (
    SELECT file, NULL AS host, NULL AS day_no, reason, detail, pos AS line, 1 AS reject_lines FROM heads_refused
    UNION ALL
    SELECT file, NULL, NULL, reason, detail, line, CASE WHEN line = 0 THEN 0 ELSE 1 END FROM bad_parts
    UNION ALL
    SELECT file, host, day_no, reason, detail, first_line, all_lines
    FROM judged WHERE reason IS NOT NULL
)
SELECT files.name AS file, coalesce(any_value(parts.day_no), any_value(files.day_no)) AS day_no, any_value(host) AS host,
    reason, detail, min(line) AS first_line, sum(reject_lines) AS reject_lines
FROM parts JOIN files ON files.no = parts.file
WHERE files.name IN (FROM replaced)
GROUP BY files.name, parts.file, parts.host, reason, detail;
"""
"""The rows of all new checks, as the schema has them."""

MANIFEST: Final = f"""
WITH unread AS (SELECT file FROM bad_parts WHERE starts_with(detail, 'cannot be read')),
cut_off AS (SELECT file FROM lines_judged WHERE reason = 'cut_off')
SELECT name, sha256, any_value(size) AS size, max(
    CASE WHEN no IN (FROM cut_off)
        THEN coalesce(tried_until, CAST(getvariable('now') AS DATE) + {_TRIES_DAYS}) END) AS tried_until
FROM files WHERE is_read AND no NOT IN (FROM unread) GROUP BY name, sha256
UNION ALL
SELECT name, sha256, size, tried_until
FROM ingested ANTI JOIN (FROM files WHERE is_read) AS read USING (name, sha256)
ORDER BY name, sha256
"""
"""All files that this ingest and earlier ones have read, but not those that could not be read to their end."""

WINNERS: Final = """
CREATE OR REPLACE TEMP TABLE winners AS
SELECT host, is_new FROM (
    SELECT host, check_id, recorded_at, true AS is_new FROM new_checks WHERE day_no = {day_no}
    UNION ALL
    SELECT host, check_id, recorded_at, false FROM old_checks
)
QUALIFY row_number() OVER (PARTITION BY host ORDER BY recorded_at DESC, check_id DESC, is_new DESC) = 1
"""
"""The hosts of a day, and true for those whose last check is one of this ingest."""

WINNING_ROWS: Final = "host IN (SELECT host FROM winners WHERE is_new = {is_new})"
"""The rows of hosts whose last check is of this ingest, or of an earlier one."""

OLD_REJECTS: Final = "file NOT IN (FROM replaced)"
"""The rejects of an earlier ingest that still count."""

ORDER: Final = {
    "checks": "host",
    "clocks": "clock, host",
    "evidence": "kind, clock, host, pos",
    "costs": "clock, bin, host",
    "rejects": "file, first_line, reason, detail",
}
"""The order of each table's rows in a file."""
