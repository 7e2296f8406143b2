-- Which hosts have which clocksource, and how far can their clocks be trusted for intervals?
WITH hosts AS (
    SELECT checks.host, checks.clocksource,
        MIN(CASE interval_verdict WHEN 'unfit' THEN 1 WHEN 'limited' THEN 2 WHEN 'undecided' THEN 3 ELSE 4 END) AS worst
    FROM checks
    JOIN as_of ON checks.day_no = as_of.day_no
    JOIN clocks ON clocks.host = checks.host AND clocks.day_no = checks.day_no
    GROUP BY checks.host, checks.clocksource
)
SELECT clocksource,
    CASE worst WHEN 1 THEN 'unfit' WHEN 2 THEN 'limited' WHEN 3 THEN 'undecided' ELSE 'trusted' END AS worst_verdict,
    COUNT(*) AS hosts,
    COUNT(*) * 1e0 / SUM(COUNT(*)) OVER () AS share,
    MIN(host) AS example
FROM hosts
GROUP BY clocksource, worst
ORDER BY hosts DESC, clocksource NULLS LAST, worst;
