-- Which hosts' time of day is off, by chronyd's own statement? By more than 1 ms, and by more than
-- the error that it states beside it: such an offset is being corrected, or waits for it. Positive
-- is behind true time.
SELECT checks.host, chrony_correction_s, chrony_error_s, frequency_ppm, time_of_day_state, time_of_day_error_s, kernel, cloud,
    instance_type
FROM checks
JOIN latest ON latest.host = checks.host AND latest.day_no = checks.day_no
WHERE ABS(chrony_correction_s) > GREATEST(1e-3, chrony_error_s)
ORDER BY ABS(chrony_correction_s) DESC, checks.host;
