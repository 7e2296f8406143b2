// A probe of clockscope: how JavaScript's stopwatches read. The protocol is probes/README.md of clockscope-runtimes.
//
//     node probe.js MILLISECONDS      deno run probe.js MILLISECONDS      bun run probe.js MILLISECONDS
//
// and in browsers, in a page that says for how long, what is to be put behind the names of the APIs, whether the browser has to have
// isolated the page, and where to go then; the lines are posted to `result`:
//
//     <script>const CLOCKSCOPE = {milliseconds: 300, suffix: " (isolated)", isolated: true, next: "/second"}</script>
//     <script src="probe.js"></script>
"use strict";

(() => {
    const MIN_READS = 1000, MAX_READS = 1000000, MIN_BATCHES = 6, MAX_DURATIONS = 10000, MAX_STEPS = 20000;

    const page = typeof CLOCKSCOPE === "undefined" ? null : CLOCKSCOPE;
    const clamped = page ? ", clamped by the browser" : "";
    if (!globalThis.performance) globalThis.performance = require("perf_hooks").performance; // Node before 16

    // Each API has a loop of its own: the compiler inlines the call, and no reading passes through a closure.
    // Numbers are stored into an array of doubles, which makes no objects of them; a BigInt is one already.
    let numbers = new Float64Array(MIN_READS), bigints = new Array(MIN_READS).fill(0n);

    function hrtimeBigint(reads) {
        for (let i = 0; i < reads; i++) bigints[i] = process.hrtime.bigint();
    }

    function performanceNow(reads) {
        for (let i = 0; i < reads; i++) numbers[i] = performance.now();
    }

    function dateNow(reads) {
        for (let i = 0; i < reads; i++) numbers[i] = Date.now();
    }

    // libuv reads QueryPerformanceCounter there. V8 and JavaScriptCore add it to a reading of the cheap system time, which they
    // take anew once a minute, or when the two have come apart.
    const isWindows = globalThis.Deno ? Deno.build.os === "windows" : !page && process.platform === "win32";
    const onWindows = builtOn => builtOn.replace("CLOCK_MONOTONIC", "QueryPerformanceCounter")
        .replace("CLOCK_REALTIME", "QueryPerformanceCounter, set by GetSystemTimeAsFileTime");
    const MOVED_BY = {windows: "performance_counter", others: "clocksource"};

    // The finest monotonic clock, in ns; from an origin of our own, because a double holds whole ns for 104 days only.
    const hasHrtime = Boolean(globalThis.process && process.hrtime && process.hrtime.bigint);
    const origin = hasHrtime ? process.hrtime.bigint() : 0n;
    const timer = hasHrtime ? () => Number(process.hrtime.bigint() - origin) : () => Math.round(performance.now() * 1e6);

    function timed(batch, reads) {
        const start = timer();
        batch(reads);
        return timer() - start;
    }

    // The smallest step of the timer: a browser's is coarse.
    function timerStep() {
        const start = timer();
        let smallest = Infinity;
        for (let last = start, steps = 0; steps < 10 || last - start < 2000000;) { // 2 ms: the first calls are slow
            const now = timer();
            if (now > last) {
                smallest = Math.min(smallest, now - last);
                steps++;
            }
            last = now;
        }
        return smallest;
    }

    // Reads an API in batches and returns its line. `value` makes a number of reading i when the batch is over. `isCoarse` says that
    // the API is documented in whole milliseconds.
    function measure(milliseconds, api, builtOn, isCoarse, unitsPerSecond, nominalHz, batch, value) {
        // Grow, while warming up, until a batch takes 200 steps of the timer: they do not blur its duration any more. Three in a row
        // have to, for one may have been interrupted.
        const longEnough = 200 * timerStep();
        const warm = timer() + Math.min(milliseconds, 1000) * 250000;
        let reads = MIN_READS;
        for (let inRow = 0; inRow < 3 || timer() < warm;) {
            if (timed(batch, reads) >= longEnough || reads === MAX_READS) {
                inRow++;
                continue;
            }
            inRow = 0;
            reads = Math.min(2 * reads, MAX_READS);
            if (reads > numbers.length) {
                numbers = new Float64Array(reads);
                bigints = new Array(reads).fill(0n);
            }
        }

        const batchNs = [], steps = [], differences = new Map();
        const end = timer() + milliseconds * 1000000;
        let batches = 0, last = 0;
        for (; batches < MIN_BATCHES || timer() < end; batches++) {
            const took = timed(batch, reads);
            if (batches < MAX_DURATIONS) batchNs.push(took);
            for (let i = 0; i < reads; i++) {
                const reading = value(i), difference = reading - last;
                last = reading;
                if (i > 0) differences.set(difference, (differences.get(difference) || 0) + 1);
                if ((i > 0 || batches > 0) && difference !== 0 && steps.length < MAX_STEPS) steps.push(difference);
            }
        }
        if (isWindows) builtOn = onWindows(builtOn);
        return line(api, {
            built_on: builtOn, moved_by: MOVED_BY, documented_coarse: isCoarse, units_per_second: unitsPerSecond,
            nominal_hz: nominalHz, batch_reads: reads, batches, batch_ns: batchNs,
            differences: [...differences].sort((a, b) => a[0] - b[0]), steps, version,
        });
    }

    // Absent in browsers. Deno and Bun say that they are Node, too.
    const {Deno, Bun} = globalThis;
    const version = page ? undefined : Deno ? Deno.version.deno : Bun ? Bun.version : process.versions.node;
    const line = (api, fields) => JSON.stringify({clockscope_probe: 1, api, ...fields});

    // All APIs that there are, a line each.
    function* lines(milliseconds, suffix) {
        const apis = [
            ["performance.now", "CLOCK_MONOTONIC" + clamped, false, 1e9, null, performanceNow,
                i => Math.round(numbers[i] * 1e6)],
            ["Date.now", "CLOCK_REALTIME" + (clamped || ", in whole ms"), true, 1000, 1000, dateNow, i => numbers[i]],
        ];
        if (hasHrtime) {
            apis.unshift(["process.hrtime.bigint", "CLOCK_MONOTONIC", false, 1e9, 1e9, hrtimeBigint,
                i => Number(bigints[i] - origin)]);
        }
        // A browser may decline what the page's headers ask for.
        const isNotIsolated = page && page.isolated && globalThis.crossOriginIsolated !== true;
        for (const [api, ...details] of apis) {
            try {
                if (isNotIsolated) throw "the browser did not isolate the page";
                yield measure(milliseconds, api + suffix, ...details);
            } catch (error) {
                yield line(api + suffix, {unavailable: String(error)});
            }
        }
    }

    if (page) {
        // When the page is there and the browser has had two seconds to finish starting: before that, its other threads are in the way.
        addEventListener("load", () => setTimeout(() => {
            const body = [...lines(page.milliseconds, page.suffix || "")].join("\n") + "\n";
            fetch("result", {method: "POST", headers: {"Content-Type": "text/plain"}, body})
                .then(() => page.next && location.replace(page.next));
        }, 2000));
        return;
    }
    const text = (Deno ? Deno.args : process.argv.slice(2))[0];
    const milliseconds = /^\d+$/.test(text) ? Number(text) : 0;
    if (milliseconds < 1 || milliseconds > 60000) {
        console.error("usage: probe.js MILLISECONDS (1 to 60000)");
        (Deno || process).exit(2);
    }
    for (const result of lines(milliseconds, "")) console.log(result);
})();
