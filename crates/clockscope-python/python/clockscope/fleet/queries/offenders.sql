-- Which clocks are unfit or limited, by which evidence, and what helps?
SELECT clocks.host, clocks.clock, verdict, kind, cause, evidence.text, evidence.advice, clocks.kernel, clocks.clocksource,
    instance_type
FROM clocks
JOIN latest ON latest.host = clocks.host AND latest.day_no = clocks.day_no
JOIN checks ON checks.host = clocks.host AND checks.day_no = clocks.day_no
JOIN evidence ON evidence.host = clocks.host AND evidence.day_no = clocks.day_no AND evidence.clock = clocks.clock
WHERE verdict IN ('unfit', 'limited') AND finding = 'against' AND decides
ORDER BY CASE verdict WHEN 'unfit' THEN 1 ELSE 2 END, clocks.host, clocks.clock, pos;
