-- Which clocks cost far more than those of like hosts? Like hosts have the same processor (name, family
-- and model), type of instance and clocksource; at least ten of them say what is usual. By the robust z
-- of the cost's logarithm: its distance from the median, in units of 1.4826 times the median distance,
-- of at least 1 %. An outlier has z above 6, and costs a quarter more than the median.
WITH hosts AS (
    SELECT clocks.host, clock, cost_p50_ns, LN(cost_p50_ns) AS ln_cost, cpu_model, cpu_family, cpu_model_number,
        instance_type, checks.clocksource
    FROM clocks
    JOIN latest ON latest.host = clocks.host AND latest.day_no = clocks.day_no
    JOIN checks ON checks.host = clocks.host AND checks.day_no = clocks.day_no
    WHERE cost_p50_ns > 0e0 AND cpu_model IS NOT NULL
), usual AS (
    SELECT clock, cpu_model, cpu_family, cpu_model_number, instance_type, clocksource, COUNT(*) AS hosts,
        PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY ln_cost) AS middle
    FROM hosts
    GROUP BY clock, cpu_model, cpu_family, cpu_model_number, instance_type, clocksource
), distances AS (
    SELECT hosts.*, middle, usual.hosts AS like_hosts, ABS(ln_cost - middle) AS distance
    FROM hosts
    JOIN usual ON usual.clock = hosts.clock
        AND usual.cpu_model IS NOT DISTINCT FROM hosts.cpu_model
        AND usual.cpu_family IS NOT DISTINCT FROM hosts.cpu_family
        AND usual.cpu_model_number IS NOT DISTINCT FROM hosts.cpu_model_number
        AND usual.instance_type IS NOT DISTINCT FROM hosts.instance_type
        AND usual.clocksource IS NOT DISTINCT FROM hosts.clocksource
), spreads AS (
    SELECT clock, cpu_model, cpu_family, cpu_model_number, instance_type, clocksource,
        GREATEST(1.4826e0 * PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY distance), 0.01e0) AS spread
    FROM distances
    GROUP BY clock, cpu_model, cpu_family, cpu_model_number, instance_type, clocksource
), scored AS (
    SELECT distances.*, (ln_cost - middle) / spread AS z
    FROM distances
    JOIN spreads ON spreads.clock = distances.clock
        AND spreads.cpu_model IS NOT DISTINCT FROM distances.cpu_model
        AND spreads.cpu_family IS NOT DISTINCT FROM distances.cpu_family
        AND spreads.cpu_model_number IS NOT DISTINCT FROM distances.cpu_model_number
        AND spreads.instance_type IS NOT DISTINCT FROM distances.instance_type
        AND spreads.clocksource IS NOT DISTINCT FROM distances.clocksource
)
SELECT host, clock, cost_p50_ns, EXP(middle) AS usual_ns, z, like_hosts, cpu_model, cpu_family, cpu_model_number,
    instance_type, clocksource
FROM scored
WHERE like_hosts >= 10 AND z > 6e0 AND ln_cost - middle > LN(1.25e0)
ORDER BY host, clock;
