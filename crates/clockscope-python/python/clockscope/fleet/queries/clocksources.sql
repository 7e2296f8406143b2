-- Which hosts have which clocksource, and how far can their clocks be trusted for intervals? By the
-- worst verdict of each host's last check within three days.
WITH hosts AS (
    SELECT checks.host, checks.clocksource,
        MIN(CASE interval_verdict WHEN 'unfit' THEN 1 WHEN 'limited' THEN 2 WHEN 'undecided' THEN 3 WHEN 'trusted' THEN 4 END)
            AS worst
    FROM checks
    JOIN latest ON latest.host = checks.host AND latest.day_no = checks.day_no
    LEFT JOIN clocks ON clocks.host = checks.host AND clocks.day_no = checks.day_no
    GROUP BY checks.host, checks.clocksource
)
SELECT clocksource,
    CASE worst WHEN 1 THEN 'unfit' WHEN 2 THEN 'limited' WHEN 3 THEN 'undecided' WHEN 4 THEN 'trusted' END AS worst_verdict,
    COUNT(*) AS hosts,
    COUNT(*) * 1e0 / SUM(COUNT(*)) OVER () AS share,
    MIN(host) AS example
FROM hosts
GROUP BY clocksource, worst
ORDER BY hosts DESC, clocksource NULLS LAST, worst NULLS LAST;
