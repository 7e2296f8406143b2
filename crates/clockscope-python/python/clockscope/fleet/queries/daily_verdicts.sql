-- How far could the clocks of hosts be trusted on each of the last 90 days? By the worst verdict of
-- each host, for intervals or for the time of day.
WITH hosts AS (
    SELECT date, clocks.host,
        MIN(CASE verdict WHEN 'unfit' THEN 1 WHEN 'limited' THEN 2 WHEN 'undecided' THEN 3 WHEN 'trusted' THEN 4 END)
            AS worst
    FROM clocks
    JOIN as_of ON clocks.day_no BETWEEN as_of.day_no - 89 AND as_of.day_no
    GROUP BY date, clocks.host
)
SELECT date,
    CASE worst WHEN 1 THEN 'unfit' WHEN 2 THEN 'limited' WHEN 3 THEN 'undecided' WHEN 4 THEN 'trusted' END AS worst_verdict,
    COUNT(*) AS hosts
FROM hosts
WHERE worst IS NOT NULL
GROUP BY date, worst
ORDER BY date, worst;
