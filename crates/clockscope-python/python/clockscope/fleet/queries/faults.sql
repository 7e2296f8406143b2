-- Which faults do clocks have, on how many hosts, and what helps? Of unfit and limited clocks, by the
-- evidence that decides. `example` is what it says of one clock of one host.
WITH found AS (
    SELECT evidence.host, evidence.clock, verdict, kind, cause, evidence.advice, evidence.text,
        ROW_NUMBER() OVER (PARTITION BY kind, cause, evidence.advice ORDER BY evidence.host, evidence.clock, pos) AS place
    FROM evidence
    JOIN latest ON latest.host = evidence.host AND latest.day_no = evidence.day_no
    JOIN clocks ON clocks.host = evidence.host AND clocks.day_no = evidence.day_no AND clocks.clock = evidence.clock
    WHERE verdict IN ('unfit', 'limited') AND finding = 'against' AND decides
)
SELECT kind, cause, COUNT(DISTINCT host) AS hosts, COUNT(DISTINCT clock) AS clocks,
    COUNT(CASE WHEN verdict = 'unfit' THEN 1 END) AS unfit, COUNT(CASE WHEN verdict = 'limited' THEN 1 END) AS limited,
    advice, MIN(CASE WHEN place = 1 THEN host END) AS example_host, MIN(CASE WHEN place = 1 THEN text END) AS example
FROM found
GROUP BY kind, cause, advice
ORDER BY unfit DESC, hosts DESC, kind, cause NULLS LAST, advice NULLS LAST;
