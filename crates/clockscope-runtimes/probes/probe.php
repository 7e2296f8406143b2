<?php
// A probe of clockscope: how PHP's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
//
//     php probe.php MILLISECONDS       (PHP 7.3 or later)

const READS = 1000, MIN_BATCHES = 6, MAX_DURATIONS = 10000, MAX_STEPS = 20000;

// Doubles between 2^30 and 2^31, as seconds since 1970 are until 2038, are 2^-22 s apart: in this unit they are whole.
const DOUBLES_PER_SECOND = 4194304;

// Each API has a loop of its own, so that no other call is in its figure. What is: the call and a turn of the loop.

function batch_of_hrtime(array &$readings): int
{
    $start = hrtime(true);
    for ($i = 0; $i < READS; $i++) {
        $readings[$i] = hrtime(true);
    }
    return hrtime(true) - $start;
}

function batch_of_microtime(array &$readings): int
{
    $start = hrtime(true);
    for ($i = 0; $i < READS; $i++) {
        $readings[$i] = microtime(true);
    }
    return hrtime(true) - $start;
}

function measure(
    int $milliseconds,
    string $api,
    string $built_on,
    int $units_per_second,
    ?int $nominal_hz,
    callable $batch,
    callable $value
): void {
    $readings = array_fill(0, READS, 0);
    $warm = hrtime(true) + min($milliseconds, 1000) * 250000;
    do {
        $batch($readings);
    } while (hrtime(true) < $warm);

    $batch_ns = $steps = $differences = [];
    $last = null;
    $batches = 0;
    $end = hrtime(true) + $milliseconds * 1000000;
    while ($batches < MIN_BATCHES || hrtime(true) < $end) {
        $took = $batch($readings);
        if ($batches < MAX_DURATIONS) {
            $batch_ns[] = $took;
        }
        $batches++;
        foreach ($readings as $i => $reading) {
            $reading = $value($reading);
            $difference = $last === null ? 0 : $reading - $last;
            $last = $reading;
            if ($i > 0) {
                $differences[$difference] = ($differences[$difference] ?? 0) + 1;
            }
            if ($difference !== 0 && count($steps) < MAX_STEPS) {
                $steps[] = $difference;
            }
        }
    }

    ksort($differences);
    echo json_encode([
        'clockscope_probe' => 1,
        'api' => $api,
        'built_on' => $built_on,
        'moved_by' => 'clocksource',
        'documented_coarse' => false,
        'units_per_second' => $units_per_second,
        'nominal_hz' => $nominal_hz,
        'batch_reads' => READS,
        'batches' => $batches,
        'batch_ns' => $batch_ns,
        'differences' => array_map(null, array_keys($differences), $differences),
        'steps' => $steps,
        'version' => PHP_VERSION,
    ]), "\n";
    flush();
}

$milliseconds = filter_var($argv[1] ?? '', FILTER_VALIDATE_INT, ['options' => ['min_range' => 1, 'max_range' => 60000]]);
if ($milliseconds === false) {
    fwrite(STDERR, "usage: probe.php MILLISECONDS (1 to 60000)\n");
    exit(2);
}

measure($milliseconds, 'hrtime(true)', 'CLOCK_MONOTONIC', 1000000000, 1000000000, 'batch_of_hrtime', function ($reading) {
    return $reading;
});
measure(
    $milliseconds,
    'microtime(true)',
    'CLOCK_REALTIME, in whole microseconds, as a float',
    DOUBLES_PER_SECOND,
    null,
    'batch_of_microtime',
    function ($reading) {
        return (int) round($reading * DOUBLES_PER_SECOND);
    }
);
