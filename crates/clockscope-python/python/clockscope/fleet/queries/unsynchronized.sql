-- On which hosts does no daemon synchronize the time of day, and since when without a break? A
-- daemon that states no error is one. Checks that do not know are left out.
WITH known AS (
    SELECT checks.host, checks.day_no, date, time_of_day_state, kernel, cloud, instance_type
    FROM checks
    JOIN as_of ON checks.day_no <= as_of.day_no
    WHERE time_of_day_state IS NOT NULL
), last_good AS (
    SELECT host, MAX(CASE WHEN time_of_day_state <> 'unsynchronized' THEN day_no END) AS day_no
    FROM known
    GROUP BY host
), since AS (
    SELECT known.host, MIN(date) AS since, COUNT(*) AS checks
    FROM known
    JOIN last_good ON last_good.host = known.host
    WHERE known.day_no > COALESCE(last_good.day_no, -1)
    GROUP BY known.host
)
SELECT known.host, time_of_day_state, since, checks, kernel, cloud, instance_type
FROM known
JOIN latest ON latest.host = known.host AND latest.day_no = known.day_no
JOIN since ON since.host = known.host
WHERE time_of_day_state = 'unsynchronized'
ORDER BY known.host;
