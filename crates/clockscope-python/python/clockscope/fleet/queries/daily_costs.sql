-- What did a read of each clock cost on each of the last 90 days? Over the medians of all hosts.
SELECT date, clock, COUNT(*) AS hosts,
    PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost_p50_ns) AS p50_ns,
    PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost_p50_ns) AS p90_ns
FROM clocks
JOIN as_of ON clocks.day_no BETWEEN as_of.day_no - 89 AND as_of.day_no
WHERE cost_p50_ns IS NOT NULL
GROUP BY date, clock
ORDER BY date, clock;
