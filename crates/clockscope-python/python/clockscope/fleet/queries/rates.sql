-- Which clocks run at a wrong rate or at a changing one, and which hosts' counters differ between
-- their CPUs?
SELECT evidence.host, clock, kind, ppm, bound_ppm, failures AS cpus_apart, within_ns, reference, kernel, clocksource,
    instance_type, text
FROM evidence
JOIN latest ON latest.host = evidence.host AND latest.day_no = evidence.day_no
JOIN checks ON checks.host = evidence.host AND checks.day_no = evidence.day_no
WHERE kind IN ('rate', 'constant_rate', 'nominal_frequency', 'offsets') AND finding = 'against'
ORDER BY kind, clock, evidence.host, pos;
