-- How many hosts had which clocksource on each of the last 90 days?
SELECT date, COALESCE(clocksource, 'unknown') AS clocksource, COUNT(*) AS hosts
FROM checks
JOIN as_of ON checks.day_no BETWEEN as_of.day_no - 89 AND as_of.day_no
GROUP BY date, COALESCE(clocksource, 'unknown')
ORDER BY date, clocksource;
