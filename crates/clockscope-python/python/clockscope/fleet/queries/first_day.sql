-- On which day did which hosts change, and did others do the same that day? Each check is compared
-- with the one before. Changes are of the clocksource; of the verdict, the worst for intervals; of
-- synchronization, by a daemon or by none; and of the cost of `monotonic`. What a check does not know
-- is left out: a verdict too where a clock is undecided, unless another one is unfit. A cost has
-- changed where the three checks from that day on are above the three before, or below: by 4 %, and
-- by three times the host's usual change between checks.
WITH found AS (
    SELECT clocks.host, clocks.day_no,
        MIN(CASE interval_verdict WHEN 'unfit' THEN 1 WHEN 'limited' THEN 2 WHEN 'trusted' THEN 3 END) AS trust,
        COUNT(CASE WHEN interval_verdict = 'undecided' THEN 1 END) AS undecided,
        MIN(CASE WHEN clock = 'monotonic' AND cost_p50_ns > 0e0 THEN cost_p50_ns END) AS cost_ns
    FROM clocks
    JOIN as_of ON clocks.day_no <= as_of.day_no
    GROUP BY clocks.host, clocks.day_no
), states AS (
    SELECT checks.host, checks.day_no, date, kernel, clocksource, cost_ns,
        CASE WHEN trust = 1 THEN 'unfit' WHEN undecided > 0 THEN NULL WHEN trust = 2 THEN 'limited' WHEN trust = 3 THEN 'trusted' END
            AS verdict,
        CASE WHEN time_of_day_state = 'unsynchronized' THEN 'no daemon' WHEN time_of_day_state IS NOT NULL THEN 'a daemon' END AS daemon
    FROM checks
    JOIN as_of ON checks.day_no <= as_of.day_no
    LEFT JOIN found ON found.host = checks.host AND found.day_no = checks.day_no
), words AS (
    SELECT host, day_no, date, kernel, 'clocksource' AS subject, clocksource AS state FROM states
    UNION ALL
    SELECT host, day_no, date, kernel, 'verdict' AS subject, verdict AS state FROM states
    UNION ALL
    SELECT host, day_no, date, kernel, 'synchronization' AS subject, daemon AS state FROM states
), word_steps AS (
    SELECT words.*, LAG(state) OVER (PARTITION BY host, subject ORDER BY day_no) AS state_before,
        LAG(kernel) OVER (PARTITION BY host, subject ORDER BY day_no) AS kernel_before
    FROM words
    WHERE state IS NOT NULL
), costs_around AS (
    SELECT host, date, kernel, cost_ns, LAG(kernel) OVER (PARTITION BY host ORDER BY day_no) AS kernel_before,
        LAG(cost_ns) OVER (PARTITION BY host ORDER BY day_no) AS before_1,
        LAG(cost_ns, 2) OVER (PARTITION BY host ORDER BY day_no) AS before_2,
        LAG(cost_ns, 3) OVER (PARTITION BY host ORDER BY day_no) AS before_3,
        LEAD(cost_ns) OVER (PARTITION BY host ORDER BY day_no) AS after_1,
        LEAD(cost_ns, 2) OVER (PARTITION BY host ORDER BY day_no) AS after_2
    FROM states
    WHERE cost_ns IS NOT NULL
), usual AS (
    SELECT host,
        1e0 + GREATEST(0.04e0, 3e0 * PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ABS(cost_ns / before_1 - 1e0))) AS factor
    FROM costs_around
    WHERE before_1 IS NOT NULL
    GROUP BY host
), changes AS (
    SELECT date, subject, state_before, state AS state_after, CAST(NULL AS DOUBLE) AS cost_before_ns,
        CAST(NULL AS DOUBLE) AS cost_after_ns, host, kernel, kernel_before
    FROM word_steps
    WHERE state <> state_before
    UNION ALL
    SELECT date, 'cost' AS subject, CASE WHEN cost_ns > before_1 THEN 'lower' ELSE 'higher' END AS state_before,
        CASE WHEN cost_ns > before_1 THEN 'higher' ELSE 'lower' END AS state_after,
        (before_1 + before_2 + before_3) / 3e0 AS cost_before_ns, (cost_ns + after_1 + after_2) / 3e0 AS cost_after_ns,
        costs_around.host, kernel, kernel_before
    FROM costs_around
    JOIN usual ON usual.host = costs_around.host
    WHERE before_3 IS NOT NULL AND after_2 IS NOT NULL
        AND (LEAST(cost_ns, after_1, after_2) > GREATEST(before_1, before_2, before_3) * factor
            OR GREATEST(cost_ns, after_1, after_2) * factor < LEAST(before_1, before_2, before_3))
)
SELECT date, subject, state_before, state_after, host,
    COUNT(*) OVER (PARTITION BY date, subject, state_before, state_after) AS hosts_that_day,
    cost_before_ns, cost_after_ns, CASE WHEN kernel <> kernel_before THEN kernel END AS with_new_kernel
FROM changes
ORDER BY date, subject, state_before, state_after, host;
