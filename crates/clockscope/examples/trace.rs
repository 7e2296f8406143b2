//! A tracer in a page: events are stamped now and converted when they are exported.
//!
//! `trace [EVENTS]` prints each span as one JSON object: its beginning on the timeline that perf
//! (`-k mono`), ftrace (`trace_clock` mono) and eBPF (`bpf_ktime_get_ns`) share, the same as the
//! time of day, and its length. docs/guides/tracing.md shows it beside those tools.

#![allow(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::hint::black_box;

use clockscope::{Anchor, Instant, now};

/// The record of a span: two stamps of eight bytes.
struct Span {
    start: Instant,
    end: Instant,
}

fn main() {
    let events = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    let spans: Vec<Span> = (0..events).map(|_| span(work)).collect();
    // One anchor for the batch: its order is kept, even if the clock is set meanwhile.
    let Some(anchor) = Anchor::now() else { return };
    for Span { start, end } in spans {
        let (wall, length) = (anchor.to_wall(start), end.ns_since(start));
        println!("{{\"start_ns\": {}, \"start\": \"{wall}\", \"length_ns\": {length}}}", start.as_ns());
    }
}

fn span(work: impl FnOnce()) -> Span {
    let start = now();
    work();
    Span { start, end: now() }
}

/// Some milliseconds.
fn work() {
    black_box((0..20_000_000u64).fold(0, |sum: u64, number| black_box(sum.wrapping_add(number))));
}
