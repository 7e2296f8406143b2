-- Which faults do clocks have, on how many hosts, and what helps? Of unfit and limited clocks, by the
-- evidence that decides. `unfit` and `limited` count hosts; `example` is the evidence of one host.
WITH found AS (
    SELECT evidence.host, evidence.clock, verdict, kind, cause, evidence.advice, evidence.text,
        ROW_NUMBER() OVER (PARTITION BY kind, cause, evidence.advice ORDER BY evidence.host, evidence.clock, pos) AS row_no
    FROM evidence
    JOIN latest ON latest.host = evidence.host AND latest.day_no = evidence.day_no
    JOIN clocks ON clocks.host = evidence.host AND clocks.day_no = evidence.day_no AND clocks.clock = evidence.clock
    WHERE verdict IN ('unfit', 'limited') AND finding = 'against' AND decides
)
SELECT kind, cause, COUNT(DISTINCT host) AS hosts,
    COUNT(DISTINCT CASE WHEN verdict = 'unfit' THEN host END) AS unfit,
    COUNT(DISTINCT CASE WHEN verdict = 'limited' THEN host END) AS limited,
    advice, MIN(CASE WHEN row_no = 1 THEN host END) AS example_host, MIN(CASE WHEN row_no = 1 THEN text END) AS example
FROM found
GROUP BY kind, cause, advice
ORDER BY unfit DESC, hosts DESC, kind, cause NULLS LAST, advice NULLS LAST;
