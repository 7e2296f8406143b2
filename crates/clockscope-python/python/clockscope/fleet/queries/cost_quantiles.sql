-- What does a read of each clock cost in the whole fleet, by clocksource? Quantiles over all batches
-- of all hosts, merged from their histograms. A quantile is the middle of a bin: within 1.1 % of the
-- cost whose rank is off by 0.2 % at most.
WITH bins AS (
    SELECT costs.clock, checks.clocksource, bin, SUM(batches) AS batches, COUNT(*) AS hosts
    FROM costs
    JOIN as_of ON costs.day_no = as_of.day_no
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
    JOIN as_of ON costs.day_no = as_of.day_no
    JOIN checks ON checks.host = costs.host AND checks.day_no = costs.day_no
    GROUP BY costs.clock, checks.clocksource
)
SELECT quantiles.clock, quantiles.clocksource, hosts, CAST(batches AS BIGINT) AS batches,
    POWER(2e0, (p50 + 0.5e0) / 32e0) AS p50_ns,
    POWER(2e0, (p90 + 0.5e0) / 32e0) AS p90_ns,
    POWER(2e0, (p99 + 0.5e0) / 32e0) AS p99_ns,
    1.1e0 AS error_percent
FROM quantiles
JOIN hosts ON hosts.clock = quantiles.clock AND hosts.clocksource IS NOT DISTINCT FROM quantiles.clocksource
ORDER BY quantiles.clock, quantiles.clocksource NULLS LAST;
