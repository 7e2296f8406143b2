//! Spans of a program, stamped while it runs and converted at export: the part that the examples
//! `perfetto` and `ctf` share.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example talks to the person who runs it")]

use std::error::Error;
use std::hint::black_box;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clockscope::stamps::{self, Stamp, StampError, Stamps};
use clockscope::{Anchor, Instant, Upkeep};

/// One end of a span.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    Begin,
    End,
}

/// A recorded event; its time is a [`Stamp`] while the program runs, an [`Instant`] at export.
pub(crate) struct Event<T> {
    pub(crate) name: &'static str,
    pub(crate) edge: Edge,
    pub(crate) time: T,
}

/// Converted events, in order.
pub(crate) struct Trace {
    pub(crate) events: Vec<Event<Instant>>,
    /// The offset of the wall clock, one for all events.
    pub(crate) anchor: Anchor,
    /// Bound on the error of each event's time of day.
    pub(crate) error: Duration,
}

/// Records events of one thread.
struct Tracer {
    stamps: Stamps,
    events: Vec<Event<Stamp>>,
}

impl Tracer {
    fn span(&mut self, name: &'static str, work: impl FnOnce(&mut Self)) {
        self.record(name, Edge::Begin);
        work(self);
        self.record(name, Edge::End);
    }

    fn record(&mut self, name: &'static str, edge: Edge) {
        self.events.push(Event { name, edge, time: self.stamps.now() });
    }
}

/// Traces a request, writes the trace to the path of the only argument, and prints its spans.
pub(crate) fn export(usage: &str, write: impl Fn(&Trace, &Path) -> io::Result<()>) -> ExitCode {
    let result = match std::env::args_os().skip(1).collect::<Vec<_>>().as_slice() {
        [path] => trace().and_then(|trace| {
            let path = Path::new(path);
            write(&trace, path).map_err(|error| format!("cannot write {path:?}: {error}; usage: {usage}"))?;
            trace.print();
            Ok(())
        }),
        others => Err(format!("expected one argument, got {}; usage: {usage}", others.len()).into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn trace() -> Result<Trace, Box<dyn Error>> {
    let stamps = stamps::counter().unwrap_or_else(|refused| {
        eprintln!("{refused}: these are stamps of the system's clock");
        stamps::os()
    });
    // Renews the history of stamps. Where no thread can be started, the conversion does.
    let upkeep = Upkeep::start(Duration::from_millis(100)).ok();
    let mut tracer = Tracer { stamps, events: Vec::new() };
    tracer.span("request", |tracer| {
        tracer.span("parse", |_| work(1));
        tracer.span("answer", |_| work(3));
    });
    drop(upkeep);
    Trace::convert(stamps, &tracer.events)
}

/// A fraction of a millisecond for each part.
fn work(parts: u64) {
    black_box((0..parts * 500_000).fold(0, |sum: u64, number| black_box(sum.wrapping_add(number))));
}

impl Trace {
    /// Converts recorded events.
    fn convert(stamps: Stamps, recorded: &[Event<Stamp>]) -> Result<Self, Box<dyn Error>> {
        let anchor = Anchor::now().ok_or("the system has no wall clock; use a system that has one")?;
        let converted: Result<Vec<_>, StampError> =
            recorded.iter().map(|event| stamps.instant_with_bound(event.time)).collect();
        let converted = converted.map_err(|error| format!("cannot convert a stamp: {error}"))?;
        let error = converted.iter().map(|(_, bound)| *bound).max().unwrap_or_default() + anchor.error_bound();
        let with_time = |(event, (time, _)): (&Event<Stamp>, _)| Event { name: event.name, edge: event.edge, time };
        Ok(Self { events: recorded.iter().zip(converted).map(with_time).collect(), anchor, error })
    }

    /// Prints each span as a JSON object, in the order in which they begin.
    fn print(&self) {
        let error = self.error.as_nanos();
        for (index, Event { name, time: start, .. }) in self.events.iter().enumerate() {
            let Some(end) = end_of(&self.events[index..]) else { continue };
            let (length, wall) = (end.ns_since(*start), self.anchor.to_wall(*start));
            print!("{{\"name\": \"{name}\", \"start_ns\": {}, \"length_ns\": {length}, ", start.as_ns());
            println!("\"start\": \"{wall}\", \"error_ns\": {error}}}");
        }
    }
}

/// Returns the end of the span that the first event begins; `None` if it begins none.
fn end_of(events: &[Event<Instant>]) -> Option<Instant> {
    let mut depth = 0;
    for Event { edge, time, .. } in events {
        depth += if *edge == Edge::Begin { 1 } else { -1 };
        if depth <= 0 {
            return (depth == 0).then_some(*time);
        }
    }
    None
}
