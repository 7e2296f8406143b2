-- On which hosts does no daemon synchronize civil time, and since when without a break? A daemon that
-- states no error is one.
WITH judged AS (
    SELECT checks.host, checks.day_no, date, civil_state, kernel, cloud, instance_type,
        CASE WHEN civil_state = 'unsynchronized' THEN 0 ELSE 1 END AS is_synchronized
    FROM checks
    JOIN as_of ON checks.day_no <= as_of.day_no
), last_good AS (
    SELECT host, MAX(CASE WHEN is_synchronized = 1 THEN day_no END) AS day_no
    FROM judged
    GROUP BY host
), since AS (
    SELECT judged.host, MIN(date) AS since, COUNT(*) AS days
    FROM judged
    JOIN last_good ON last_good.host = judged.host
    WHERE judged.day_no > COALESCE(last_good.day_no, -1)
    GROUP BY judged.host
)
SELECT judged.host, civil_state, since, days, kernel, cloud, instance_type
FROM judged
JOIN as_of ON judged.day_no = as_of.day_no
JOIN since ON since.host = judged.host
WHERE is_synchronized = 0
ORDER BY judged.host;
