-- On which day did which hosts turn to another clocksource, and did others do the same that day?
WITH steps AS (
    SELECT checks.host, checks.day_no, checks.date, clocksource, kernel,
        LAG(clocksource) OVER (PARTITION BY host ORDER BY checks.day_no) AS clocksource_before,
        LAG(kernel) OVER (PARTITION BY host ORDER BY checks.day_no) AS kernel_before
    FROM checks
    JOIN as_of ON checks.day_no <= as_of.day_no
    WHERE clocksource IS NOT NULL
)
SELECT date, clocksource_before, clocksource, host,
    COUNT(*) OVER (PARTITION BY date, clocksource_before, clocksource) AS hosts_that_day,
    CASE WHEN kernel <> kernel_before THEN kernel END AS with_new_kernel
FROM steps
WHERE clocksource <> clocksource_before
ORDER BY date, clocksource_before, clocksource, host;
