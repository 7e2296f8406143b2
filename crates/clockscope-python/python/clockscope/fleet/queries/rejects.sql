-- What was in the ingested files and is in no table, and why?
SELECT reason, detail, COUNT(DISTINCT file) AS files, SUM(reject_lines) AS reject_lines, MIN(rejects.date) AS first_date,
    MAX(rejects.date) AS last_date, MIN(file) AS example, MIN(host) AS example_host
FROM rejects
GROUP BY reason, detail
ORDER BY files DESC, reason, detail;
