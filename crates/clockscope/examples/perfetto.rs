//! A trace for Perfetto: stamps become CLOCK_MONOTONIC at export.
//!
//! `perfetto FILE` traces a request, writes the trace into FILE, and prints each span as one JSON
//! object. <https://ui.perfetto.dev> and trace_processor open the file. docs/guides/tracing.md
//! explains the clocks in it.
//!
//! The trace is a series of protobuf messages, `TracePacket` of Perfetto's
//! protos/perfetto/trace/trace_packet.proto, whose field numbers are below.

#[path = "shared/spans.rs"]
mod spans;

use std::fs;
use std::process::ExitCode;

use clockscope::Instant;
use spans::{Edge, Trace};

/// Clock numbers of `BuiltinClock`.
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;

/// Any number but 0: packets of one writer have the same.
const SEQUENCE: u64 = 1;
/// Any number but 0: events of one track have the same.
const TRACK: u64 = 1;

fn main() -> ExitCode {
    spans::export("perfetto FILE", |trace, path| fs::write(path, encoded(trace)))
}

/// Returns the whole file: the relation of both clocks, the track, and the events.
fn encoded(trace: &Trace) -> Vec<u8> {
    let start = trace.events.first().map_or(Instant::from_ns(0), |event| event.time);
    let mut file = Message::default();
    file.packet(|packet| {
        packet.message(6, |snapshot| {
            snapshot.clock(MONOTONIC, start.as_ns());
            // Perfetto cannot express a time before 1970.
            if let Ok(ns) = u64::try_from(trace.anchor.to_wall(start).as_unix_ns()) {
                snapshot.clock(REALTIME, ns);
            }
            // The clock of the whole trace; it would be CLOCK_BOOTTIME.
            snapshot.number(2, MONOTONIC);
        });
    });
    file.packet(|packet| {
        packet.message(60, |descriptor| {
            descriptor.number(1, TRACK);
            descriptor.text(2, "requests");
        });
    });
    for event in &trace.events {
        file.packet(|packet| {
            packet.number(8, event.time.as_ns());
            packet.number(58, MONOTONIC);
            packet.message(11, |track_event| {
                track_event.number(11, TRACK);
                match event.edge {
                    Edge::Begin => {
                        track_event.number(9, 1);
                        track_event.text(23, event.name);
                    }
                    Edge::End => track_event.number(9, 2),
                }
            });
        });
    }
    file.0
}

/// Fields of a protobuf message, encoded.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// A packet of the file.
    fn packet(&mut self, fill: impl FnOnce(&mut Self)) {
        self.message(1, |packet| {
            packet.number(10, SEQUENCE);
            fill(packet);
        });
    }

    /// A clock's reading in a `ClockSnapshot`.
    fn clock(&mut self, id: u64, ns: u64) {
        self.message(1, |clock| {
            clock.number(1, id);
            clock.number(2, ns);
        });
    }

    fn number(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, fill: impl FnOnce(&mut Self)) {
        let mut message = Self::default();
        fill(&mut message);
        self.bytes(field, &message.0);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// Seven bits a byte, the lowest first; the highest bit is set in all but the last byte.
    fn varint(&mut self, mut value: u64) {
        while value > 0x7f {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}
