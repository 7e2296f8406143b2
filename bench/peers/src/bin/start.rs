//! A fresh process: its first reading, when the counter takes over, and what is known of the rate 5
//! ms and 1 s after the start. Prints a line of JSON, with a comparison of both clocks (`ticks`,
//! `ns`): those of many processes show the true rate. Links none of the peers, of which some start
//! a calibration before main.

use std::hint::black_box;
use std::time::Duration;

use clockscope::{Frequency, Source, ticks};

/// Calls for this long after the start, in ns by the first reading, and prints the frequency then.
fn frequency_after(start: clockscope::Instant, ns: u64, pause: impl Fn()) -> Frequency {
    while clockscope::now().ns_since(start) < ns {
        pause();
    }
    loop {
        if let Some(frequency) = clockscope::frequency() {
            return frequency;
        }
        pause();
    }
}

/// The tightest of many comparisons of both clocks: the middle in ticks, and CLOCK_MONOTONIC in ns.
fn bracket() -> (u64, u64) {
    let one = || {
        let before = ticks::start();
        let ns = clockscope_peers::monotonic_ns();
        let after = ticks::stop();
        (after - before, before + (after - before) / 2, ns)
    };
    let (_, middle, ns) = (0..1000).map(|_| one()).min().unwrap_or_default();
    (middle, ns)
}

fn main() {
    let begin = ticks::start();
    let start = black_box(clockscope::now());
    let first = ticks::stop() - begin;
    let mut takeover = 0;
    let pause_of_10_us = || {
        let start = ticks::now();
        while ticks::now() - start < 26_000 {
            std::hint::spin_loop();
        }
    };
    while clockscope::source() != Source::Counter {
        pause_of_10_us();
        black_box(clockscope::now());
        takeover = ticks::now() - begin;
    }
    let soon = frequency_after(start, 5_000_000, pause_of_10_us);
    let late = frequency_after(start, 1_000_000_000, || std::thread::sleep(Duration::from_micros(100)));
    print!("{{\"first_ticks\": {first}, \"takeover_ticks\": {takeover}");
    for (name, Frequency { hz, lowest_hz, highest_hz, .. }) in [("soon", soon), ("late", late)] {
        print!(", \"{name}\": {{\"hz\": {hz}, \"lowest_hz\": {lowest_hz}, \"highest_hz\": {highest_hz}}}");
    }
    let (ticks, ns) = bracket();
    println!(", \"ticks\": {ticks}, \"ns\": {ns}}}");
}
