-- Which changes came with which kernel? Each host's check with a new kernel is compared with its check
-- before. `cost_ratio` is the median over the hosts, of the clock `monotonic`.
WITH states AS (
    SELECT checks.host, checks.day_no, checks.date, checks.kernel, checks.clocksource, cost_p50_ns,
        CASE interval_verdict WHEN 'unfit' THEN 1 WHEN 'limited' THEN 2 WHEN 'undecided' THEN 3 WHEN 'trusted' THEN 4 END
            AS trust
    FROM checks
    JOIN as_of ON checks.day_no <= as_of.day_no
    LEFT JOIN clocks ON clocks.host = checks.host AND clocks.day_no = checks.day_no AND clocks.clock = 'monotonic'
    WHERE checks.kernel IS NOT NULL
), steps AS (
    SELECT host, date, kernel, clocksource, cost_p50_ns, trust,
        LAG(kernel) OVER (PARTITION BY host ORDER BY day_no) AS kernel_before,
        LAG(clocksource) OVER (PARTITION BY host ORDER BY day_no) AS clocksource_before,
        LAG(cost_p50_ns) OVER (PARTITION BY host ORDER BY day_no) AS cost_before_ns,
        LAG(trust) OVER (PARTITION BY host ORDER BY day_no) AS trust_before
    FROM states
)
SELECT kernel_before, kernel AS kernel_after, COUNT(*) AS hosts, MIN(date) AS first_date, MAX(date) AS last_date,
    COUNT(CASE WHEN clocksource <> clocksource_before THEN 1 END) AS clocksource_changed,
    MIN(CASE WHEN clocksource <> clocksource_before THEN clocksource END) AS a_new_clocksource,
    COUNT(CASE WHEN trust < trust_before THEN 1 END) AS verdict_worse,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost_p50_ns / NULLIF(cost_before_ns, 0e0)) AS cost_ratio
FROM steps
WHERE kernel <> kernel_before
GROUP BY kernel_before, kernel
ORDER BY kernel_before, kernel_after;
