-- The tables of a fleet, of scalar columns alone. A host has one check a day: the last one.
-- Folders: TABLE/date=YYYY-MM-DD/part-0.parquet, so that each table has a column `date` (UTC) too.
-- `day_no` counts days since 1970-01-01, as a number that engines subtract alike. Times are in UTC.
-- NULL: the record does not state it, or states that it is unknown.

-- One row a host and day; sorted by host.
CREATE TABLE checks (
    check_id VARCHAR NOT NULL,          -- the check's random number
    host VARCHAR NOT NULL,              -- the label that the host was given, or else identity.host
    day_no INTEGER NOT NULL,
    recorded_at TIMESTAMP NOT NULL,     -- by the host's clock
    schema_version INTEGER NOT NULL,
    boot VARCHAR,                       -- identity.boot
    cloud VARCHAR,
    instance_type VARCHAR,
    kernel VARCHAR,                     -- release of the kernel
    clocksource VARCHAR,
    hypervisor VARCHAR,
    cpu_model VARCHAR,                  -- the name, which hypervisors may shorten
    cpu_family BIGINT,                  -- NULL on Arm
    cpu_model_number BIGINT,            -- on Arm the part number
    cpu_stepping BIGINT,                -- on Arm 16 times the variant plus the revision
    cpu_microcode VARCHAR,              -- revision, as the kernel writes it
    architecture VARCHAR,
    cpus_online BIGINT,
    program_version VARCHAR,
    duration_s DOUBLE,                  -- time that the check took
    timer VARCHAR,                      -- the clock that batches were timed with
    counter_hz DOUBLE,                  -- the counter's measured frequency
    counter_bound_ppm DOUBLE,           -- bound of its error
    time_of_day_state VARCHAR,                -- the kernel's statement, judged
    time_of_day_error_s DOUBLE,               -- largest error of the time of day, if it is worth anything
    frequency_ppm DOUBLE,               -- the kernel's correction of the frequency
    chrony_correction_s DOUBLE,         -- how far the clock is behind true time, by chronyd
    chrony_error_s DOUBLE,              -- the largest error beside that
    clocks INTEGER NOT NULL             -- clocks that were judged
);

-- One row a clock of a check; sorted by clock and host.
CREATE TABLE clocks (
    host VARCHAR NOT NULL,
    day_no INTEGER NOT NULL,
    kernel VARCHAR,
    clocksource VARCHAR,
    clock VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,           -- trusted, undecided, limited, unfit: the worst of both uses
    interval_verdict VARCHAR,
    time_of_day_verdict VARCHAR,
    cost_p50_ns DOUBLE,                 -- median over the batches of reads
    cost_p99_ns DOUBLE,                 -- their 99th percentile
    syscall_ns DOUBLE,                  -- what a system call that reads a clock costs
    findings_for INTEGER NOT NULL,
    findings_against INTEGER NOT NULL,
    findings_unknown INTEGER NOT NULL
);

-- One row a check of a clock; sorted by kind, clock and host. Figures are NULL where a kind has none.
CREATE TABLE evidence (
    host VARCHAR NOT NULL,
    day_no INTEGER NOT NULL,
    clock VARCHAR NOT NULL,
    pos INTEGER NOT NULL,               -- its place among the clock's, from 1
    kind VARCHAR NOT NULL,              -- steps_back, order, rate, ...
    finding VARCHAR NOT NULL,           -- for, against, unknown
    decides BOOLEAN NOT NULL,           -- the verdict is based on it
    cause VARCHAR,                      -- of a cost, or of the kernel's verdict
    reason VARCHAR,                     -- code of the reason why it is unknown
    reference VARCHAR,                  -- the second clock
    samples BIGINT,                     -- readings, handoffs or brackets
    failures BIGINT,                    -- steps back, runs, jumps, regressions, or CPUs apart
    worst_ns DOUBLE,                    -- the largest of them
    within_ns DOUBLE,                   -- all counters agree within this
    tick_ns DOUBLE,
    hz DOUBLE,
    ppm DOUBLE,
    bound_ppm DOUBLE,
    error_s DOUBLE,                     -- error of the time of day
    text VARCHAR,                       -- the sentence, where the finding is against the clock
    advice VARCHAR                      -- the remedy, where the finding is against the clock
);

-- One row a bin of a clock's costs; sorted by clock, bin and host. Bin b holds costs from 2^(b/32) ns
-- on, below 2^((b+1)/32) ns. A clock's `batches` are 256 together, or as many as it had.
CREATE TABLE costs (
    host VARCHAR NOT NULL,
    day_no INTEGER NOT NULL,
    clock VARCHAR NOT NULL,
    bin INTEGER NOT NULL,
    batches INTEGER NOT NULL
);

-- One row a file, host, reason and detail, of what is in none of the other tables; sorted by file.
CREATE TABLE rejects (
    file VARCHAR NOT NULL,              -- its path in the folder that was ingested
    day_no INTEGER NOT NULL,            -- of the record, where that is known, or else of the file
    host VARCHAR,                       -- where it is known
    reason VARCHAR NOT NULL,            -- not_json, cut_off, clock_wrong, ...
    detail VARCHAR NOT NULL,            -- what was found
    first_line BIGINT,                  -- the first of these lines, from 1
    reject_lines BIGINT NOT NULL        -- their number; 0: the whole file
);
