// A probe of clockscope: how Java's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
//
//     java -Xmx64m Probe.java MILLISECONDS        (Java 11 or later)
//
// A small heap is used again and again. On a large one, as long as the objects that Instant.now makes are written to memory that has
// never been touched, page faults can cost three times what the clock does.

import java.time.Instant;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.function.IntToLongFunction;

public class Probe {
    static final int READS = 1000, MIN_BATCHES = 6, MAX_DURATIONS = 10_000, MAX_STEPS = 20_000;

    static final long[] numbers = new long[READS];
    static final Instant[] instants = new Instant[READS];

    // Each API has a loop of its own: the compiler inlines the call, and no reading passes through an interface.

    static void nanoTime() {
        for (int i = 0; i < READS; i++) numbers[i] = System.nanoTime();
    }

    static void instantNow() {
        for (int i = 0; i < READS; i++) instants[i] = Instant.now();
    }

    static void currentTimeMillis() {
        for (int i = 0; i < READS; i++) numbers[i] = System.currentTimeMillis();
    }

    // What moves a clock. HotSpot reads the cheap system time of Windows for both wall clocks, in JDK 25 as in earlier ones
    // (os_windows.cpp), and the timer interrupt moves that.
    static final String STOPWATCH = "{\"windows\":\"performance_counter\",\"others\":\"clocksource\"}";
    static final String WALL = "{\"windows\":\"timer_tick\",\"others\":\"clocksource\"}";

    static long nanosOf(Instant instant) {
        return Math.addExact(Math.multiplyExact(instant.getEpochSecond(), 1_000_000_000L), instant.getNano());
    }

    /**
     * Reads an API in batches and prints its line. {@code value} makes a number of a reading when the batch is over.
     * {@code isCoarse} says that the API is documented in whole milliseconds.
     */
    static void measure(
            int milliseconds, String api, String builtOn, String movedBy, boolean isCoarse, long unitsPerSecond,
            Runnable batch, IntToLongFunction value) {
        long[] batchNs = new long[MAX_DURATIONS], steps = new long[MAX_STEPS];
        int seen = 0;
        long batches = 0, last = 0;
        Map<Long, Long> differences = new TreeMap<>();

        long start = System.nanoTime();
        do batch.run(); while (System.nanoTime() - start < Math.min(milliseconds, 1000) * 250_000L);

        start = System.nanoTime();
        while (batches < MIN_BATCHES || System.nanoTime() - start < milliseconds * 1_000_000L) {
            long before = System.nanoTime();
            batch.run();
            long took = System.nanoTime() - before;
            if (batches < MAX_DURATIONS) batchNs[(int) batches] = took;
            batches++;
            for (int i = 0; i < READS; i++) {
                long reading = value.applyAsLong(i), difference = reading - last;
                last = reading;
                if (i > 0) differences.merge(difference, 1L, Long::sum);
                boolean hasPredecessor = i > 0 || batches > 1;
                if (hasPredecessor && difference != 0 && seen < MAX_STEPS) steps[seen++] = difference;
            }
        }

        if (System.getProperty("os.name").startsWith("Windows")) builtOn = onWindows(builtOn);
        var pairs = new StringJoiner(",", "[", "]");
        differences.forEach((difference, count) -> pairs.add("[" + difference + "," + count + "]"));
        System.out.println("{\"clockscope_probe\":1,\"api\":\"" + api + "\",\"built_on\":\"" + builtOn
                + "\",\"moved_by\":" + movedBy + ",\"documented_coarse\":" + isCoarse
                + ",\"units_per_second\":" + unitsPerSecond + ",\"nominal_hz\":" + unitsPerSecond
                + ",\"batch_reads\":" + READS + ",\"batches\":" + batches
                + ",\"batch_ns\":" + list(batchNs, (int) Math.min(batches, MAX_DURATIONS))
                + ",\"differences\":" + pairs + ",\"steps\":" + list(steps, seen)
                + ",\"version\":\"" + System.getProperty("java.version") + "\"}");
        System.out.flush();
    }

    /** HotSpot: os_windows.cpp. */
    static String onWindows(String builtOn) {
        return builtOn.replace("CLOCK_MONOTONIC", "QueryPerformanceCounter").replace("CLOCK_REALTIME", "GetSystemTimeAsFileTime");
    }

    static String list(long[] numbers, int length) {
        var list = new StringJoiner(",", "[", "]");
        for (int i = 0; i < length; i++) list.add(Long.toString(numbers[i]));
        return list.toString();
    }

    public static void main(String[] arguments) {
        int milliseconds = 0;
        try {
            if (arguments.length == 1) milliseconds = Integer.parseInt(arguments[0]);
        } catch (NumberFormatException notANumber) {
            // As if there were none.
        }
        if (milliseconds < 1 || milliseconds > 60_000) {
            System.err.println("usage: java Probe.java MILLISECONDS (1 to 60000)");
            System.exit(2);
        }
        measure(milliseconds, "System.nanoTime", "CLOCK_MONOTONIC", STOPWATCH, false, 1_000_000_000, Probe::nanoTime,
                i -> numbers[i]);
        measure(milliseconds, "Instant.now", "CLOCK_REALTIME", WALL, false, 1_000_000_000, Probe::instantNow,
                i -> nanosOf(instants[i]));
        measure(milliseconds, "System.currentTimeMillis", "CLOCK_REALTIME, in whole ms", WALL, true, 1000,
                Probe::currentTimeMillis, i -> numbers[i]);
    }
}
