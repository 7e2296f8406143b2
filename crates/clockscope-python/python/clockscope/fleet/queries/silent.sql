-- Which hosts fell silent? Their last check is three days old or older. With an inventory also: which
-- of its hosts never spoke?
WITH spoke AS (
    SELECT host, MAX(checks.day_no) AS last_day_no, MAX(date) AS last_date
    FROM checks
    JOIN as_of ON checks.day_no <= as_of.day_no
    GROUP BY host
), everyone AS (
    SELECT host FROM spoke
    UNION
    SELECT host FROM inventory
)
SELECT everyone.host, CASE WHEN last_date IS NULL THEN 'never' ELSE 'silent' END AS state, last_date,
    as_of.day_no - last_day_no AS days
FROM everyone
JOIN as_of ON 1 = 1
LEFT JOIN spoke ON spoke.host = everyone.host
WHERE last_day_no IS NULL OR last_day_no <= as_of.day_no - 3
ORDER BY state, last_date NULLS LAST, everyone.host;
