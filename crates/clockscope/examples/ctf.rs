//! A trace for babeltrace2, in the Common Trace Format 1.8: stamps become CLOCK_MONOTONIC at
//! export.
//!
//! `ctf FOLDER` traces a request, writes the trace into FOLDER, and prints each span as one JSON
//! object. `babeltrace2 FOLDER` shows the events. docs/guides/tracing.md explains the clock in it.

#[path = "shared/spans.rs"]
mod spans;

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clockscope::Instant;
use spans::{Edge, Trace};

/// The clock's frequency: its values are nanoseconds.
const HZ: i64 = 1_000_000_000;
/// Begins each packet.
const MAGIC: u32 = 0xc1fc_1fc1;
/// Bytes of a packet before its first event: magic, four times 64 bits.
const HEADER: usize = 4 + 4 * 8;

fn main() -> ExitCode {
    spans::export("ctf FOLDER", write)
}

fn write(trace: &Trace, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("metadata"), metadata(trace))?;
    fs::write(folder.join("stream"), stream(trace))
}

/// Returns the description of the clock and of the events.
fn metadata(trace: &Trace) -> String {
    // The wall clock's time when CLOCK_MONOTONIC was zero.
    let offset = trace.anchor.to_wall(Instant::from_ns(0)).as_unix_ns();
    let (seconds, rest) = (offset.div_euclid(HZ), offset.rem_euclid(HZ));
    let precision = trace.error.as_nanos();
    format!(
        "/* CTF 1.8 */
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
trace {{
    major = 1;
    minor = 8;
    byte_order = le;
    packet.header := struct {{ uint32_t magic; }};
}};
clock {{
    name = monotonic;
    description = \"CLOCK_MONOTONIC\";
    freq = {HZ};
    precision = {precision};
    offset_s = {seconds};
    offset = {rest};
    absolute = true;
}};
typealias integer {{ size = 64; align = 8; signed = false; map = clock.monotonic.value; }} := time_t;
stream {{
    packet.context := struct {{
        time_t timestamp_begin;
        time_t timestamp_end;
        uint64_t content_size;
        uint64_t packet_size;
    }};
    event.header := struct {{ uint32_t id; time_t timestamp; }};
}};
event {{ name = \"begin\"; id = 0; fields := struct {{ string name; }}; }};
event {{ name = \"end\"; id = 1; fields := struct {{ string name; }}; }};
"
    )
}

/// Returns the one packet of the one stream.
fn stream(trace: &Trace) -> Vec<u8> {
    let mut events = Vec::new();
    for event in &trace.events {
        let id: u32 = if event.edge == Edge::Begin { 0 } else { 1 };
        events.extend(id.to_le_bytes());
        events.extend(event.time.as_ns().to_le_bytes());
        events.extend(event.name.as_bytes());
        events.push(0);
    }
    let time = |end: Option<&spans::Event<Instant>>| end.map_or(0, |event| event.time.as_ns());
    let bits = 8 * (HEADER + events.len()) as u64;
    let mut packet = MAGIC.to_le_bytes().to_vec();
    for number in [time(trace.events.first()), time(trace.events.last()), bits, bits] {
        packet.extend(number.to_le_bytes());
    }
    packet.extend(events);
    packet
}
