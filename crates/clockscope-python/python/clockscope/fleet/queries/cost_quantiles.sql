-- What does a read of each clock cost in the whole fleet, by clocksource? Quantiles of all hosts'
-- histograms together: each host counts as 256 batches, or as many as it had. A quantile is the middle
-- of a bin: within `error_percent` of the cost whose rank is off by `rank_error_percent` at most.
WITH bins AS (
    SELECT costs.clock, checks.clocksource, bin, SUM(batches) AS batches
    FROM costs
    JOIN latest ON latest.host = costs.host AND latest.day_no = costs.day_no
    JOIN checks ON checks.host = costs.host AND checks.day_no = costs.day_no
    GROUP BY costs.clock, checks.clocksource, bin
), sums AS (
    SELECT clock, clocksource, bin,
        CAST(SUM(batches) OVER (PARTITION BY clock, clocksource ORDER BY bin) AS DOUBLE) AS so_far,
        CAST(SUM(batches) OVER (PARTITION BY clock, clocksource) AS DOUBLE) AS in_all
    FROM bins
), quantiles AS (
    SELECT clock, clocksource, MAX(in_all) AS batches,
        MIN(CASE WHEN so_far >= 0.5e0 * in_all THEN bin END) AS p50,
        MIN(CASE WHEN so_far >= 0.9e0 * in_all THEN bin END) AS p90,
        MIN(CASE WHEN so_far >= 0.99e0 * in_all THEN bin END) AS p99
    FROM sums
    GROUP BY clock, clocksource
), hosts AS (
    SELECT costs.clock, checks.clocksource, COUNT(DISTINCT costs.host) AS hosts
    FROM costs
    JOIN latest ON latest.host = costs.host AND latest.day_no = costs.day_no
    JOIN checks ON checks.host = costs.host AND checks.day_no = costs.day_no
    GROUP BY costs.clock, checks.clocksource
)
SELECT quantiles.clock, quantiles.clocksource, hosts, CAST(batches AS BIGINT) AS batches,
    POWER(2e0, (p50 + 0.5e0) / 32e0) AS p50_ns,
    POWER(2e0, (p90 + 0.5e0) / 32e0) AS p90_ns,
    POWER(2e0, (p99 + 0.5e0) / 32e0) AS p99_ns,
    1.1e0 AS error_percent, 0.2e0 AS rank_error_percent
FROM quantiles
JOIN hosts ON hosts.clock = quantiles.clock AND hosts.clocksource IS NOT DISTINCT FROM quantiles.clocksource
ORDER BY quantiles.clock, quantiles.clocksource NULLS LAST;
