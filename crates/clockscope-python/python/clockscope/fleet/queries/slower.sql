-- Which clocks cost more than a week ago, beyond the noise of their host, and what have these hosts
-- in common? Compared are the medians of the last three days, and of the seven days that ended a week
-- ago, of which three have a check at least. The noise is that of all clocks of the host in these
-- seven days: the third quartile of the changes from check to check, over 1.627, which is a standard
-- deviation where days differ as by a normal distribution; one step does not move it. Beyond it: by
-- five times the noise, and by 4 %.
WITH recent AS (
    SELECT clocks.host, clock, clocks.day_no, cost_p50_ns, clocks.day_no >= as_of.day_no - 2 AS is_now
    FROM clocks CROSS JOIN as_of
    WHERE cost_p50_ns > 0e0
        AND (clocks.day_no BETWEEN as_of.day_no - 13 AND as_of.day_no - 7
            OR clocks.day_no BETWEEN as_of.day_no - 2 AND as_of.day_no)
), medians AS (
    SELECT host, clock,
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost_p50_ns) FILTER (WHERE NOT is_now) AS before_ns,
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost_p50_ns) FILTER (WHERE is_now) AS now_ns,
        COUNT(CASE WHEN NOT is_now THEN 1 END) AS days_before,
        COUNT(CASE WHEN is_now THEN 1 END) AS days_now
    FROM recent
    GROUP BY host, clock
), changes AS (
    SELECT host, ABS(cost_p50_ns / LAG(cost_p50_ns) OVER (PARTITION BY host, clock ORDER BY day_no) - 1e0) AS change
    FROM recent
    WHERE NOT is_now
), noises AS (
    SELECT host, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY change) / 1.627e0 AS noise
    FROM changes
    WHERE change IS NOT NULL
    GROUP BY host
), judged AS (
    SELECT medians.host, medians.clock, before_ns, now_ns, now_ns / before_ns AS ratio, noise,
        CASE WHEN now_ns / before_ns - 1e0 > GREATEST(5e0 * noise, 0.04e0) THEN 1 ELSE 0 END AS is_slower
    FROM medians
    JOIN noises ON noises.host = medians.host
    WHERE days_before >= 3 AND days_now >= 1
), grouped AS (
    SELECT judged.host, judged.clock, kernel, instance_type, clocksource, before_ns, now_ns, ratio, noise, is_slower,
        SUM(is_slower) OVER (PARTITION BY judged.clock, kernel, instance_type) AS slower_of_group,
        COUNT(*) OVER (PARTITION BY judged.clock, kernel, instance_type) AS hosts_of_group
    FROM judged
    JOIN latest ON latest.host = judged.host
    JOIN checks ON checks.host = judged.host AND checks.day_no = latest.day_no
)
SELECT kernel, instance_type, clock, slower_of_group, hosts_of_group, host, clocksource, before_ns, now_ns, ratio, noise
FROM grouped
WHERE is_slower = 1
ORDER BY kernel NULLS LAST, instance_type NULLS LAST, clock, host;
