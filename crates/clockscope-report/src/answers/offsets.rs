//! Offsets of the CPUs' counters.

use clockscope_records::{OffsetPair, Offsets};

use super::{Block, by_reason, counted, grouped, sentence};
use crate::cells::{UNKNOWN, known, significant, time, trimmed};

const HEAD: [&str; 7] = ["CPUs", "Offset", "±", "Tightest round trip", "Exchanges", "Asymmetry", "Symmetric"];
/// Pairs that are listed: the furthest apart of more.
const LISTED: usize = 28;
/// CPUs whose matrix fits on a page.
const MATRIX: std::ops::RangeInclusive<usize> = 3..=10;

pub(super) fn blocks(offsets: &Offsets) -> Vec<Block> {
    let mut tested: Vec<&OffsetPair> = offsets.pairs.iter().filter(|pair| pair.exchanges > 0).collect();
    let left_out = tested.len().saturating_sub(LISTED);
    if left_out > 0 {
        let furthest = |pair: &&OffsetPair| pair.offset_ns.map_or(f64::INFINITY, f64::abs);
        tested.sort_by(|a, b| furthest(b).total_cmp(&furthest(a)));
        tested.truncate(LISTED);
    }
    let mut table = Block::table("", &HEAD, 1, tested.iter().map(|pair| row(pair)).collect());
    table.faults = tested.iter().map(|pair| pair.apart == Some(true) || pair.symmetric == Some(false)).collect();
    if left_out > 0 {
        table.lines.push(format!("and {left_out} pairs that are less apart: --format csv or json"));
    }
    let against = "The counter against the kernel's clock by the vDSO, relative to the first CPU:";
    let of_cpu = |cpu: &clockscope_records::CpuOffset| {
        vec![cpu.cpu.to_string(), known(cpu.offset_ns, signed), known(cpu.bound_ns, time)]
    };
    let measured = offsets.vdso.iter().filter(|cpu| cpu.reason.is_none());
    let lost = offsets
        .pairs
        .iter()
        .filter_map(|pair| Some((format!("CPUs {} and {}", pair.a, pair.b), pair.reason.as_deref()?)));
    let lost_cpus = offsets.vdso.iter().filter_map(|cpu| Some((format!("CPU {}", cpu.cpu), cpu.reason.as_deref()?)));
    vec![
        table,
        matrix(offsets),
        Block::table(against, &["CPU", "Offset", "±"], 0, measured.map(of_cpu).collect()),
        Block::lines("Not tested:", by_reason(lost.chain(lost_cpus))),
    ]
}

fn row(pair: &OffsetPair) -> Vec<String> {
    vec![
        format!("{} to {}", pair.a, pair.b),
        known(pair.offset_ns, signed),
        known(pair.bound_ns, time),
        known(pair.round_trip_ns, time),
        grouped(pair.exchanges),
        known(pair.asymmetry_ns, time),
        known(pair.symmetric, |symmetric| if symmetric { "yes" } else { "no" }.to_owned()),
    ]
}

/// Offsets of the columns' CPUs against the rows', in ns.
fn matrix(offsets: &Offsets) -> Block {
    if !MATRIX.contains(&offsets.cpus.len()) {
        return Block::default();
    }
    let offset = |a: u32, b: u32| {
        let pair = |a, b| offsets.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)).and_then(|pair| pair.offset_ns);
        if a == b { None } else { pair(a, b).or_else(|| pair(b, a).map(|ns| -ns)) }
    };
    let cell = |a: u32, b: u32| match offset(a, b) {
        Some(ns) => trimmed(&significant(ns, 3)).to_owned(),
        None if a == b => "-".to_owned(),
        None => UNKNOWN.to_owned(),
    };
    let row = |a: &u32| std::iter::once(a.to_string()).chain(offsets.cpus.iter().map(|b| cell(*a, *b))).collect();
    let head: Vec<String> = std::iter::once("CPU".to_owned()).chain(offsets.cpus.iter().map(u32::to_string)).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    Block::table(
        "Counter of the column's CPU less that of the row's, in ns:",
        &head,
        1,
        offsets.cpus.iter().map(row).collect(),
    )
}

fn signed(ns: f64) -> String {
    if ns > 0.0 { format!("+{}", time(ns)) } else { time(ns) }
}

pub(super) fn conclusion(offsets: &Offsets) -> Vec<String> {
    if let Some(reason) = &offsets.untestable {
        return vec![sentence(format!("The CPUs' counters could not be compared: {reason}"))];
    }
    let worst = offsets.worst_pair.and_then(|[a, b]| offsets.pairs.iter().find(|pair| (pair.a, pair.b) == (a, b)));
    let mut lines = vec![match (offsets.apart, offsets.within_ns) {
        (0, Some(within)) => format!(
            "The counters of {} CPUs are synchronised within {}{}.",
            offsets.cpus.len(),
            time(within),
            worst.map_or_else(String::new, |pair| format!(" (CPUs {} and {} are the worst known)", pair.a, pair.b))
        ),
        (0, None) => {
            let reason = offsets.unknown.get("within_ns").map_or("not every pair was tested", String::as_str);
            sentence(format!("No counters are known to be apart, but not all are known to be synchronised: {reason}"))
        }
        (apart, _) => {
            let by = worst.map(|pair| {
                let by = match (pair.offset_ns, pair.bound_ns) {
                    (Some(offset), Some(bound)) => format!("{} ± {}", signed(offset), time(bound)),
                    _ => "by an offset that changed under way".to_owned(),
                };
                format!(", the furthest CPUs {} and {}: {by}", pair.a, pair.b)
            });
            format!(
                "Of {} of CPUs, {apart} {} certainly apart{}.",
                counted(offsets.pairs.len() as u64, "pair"),
                if apart == 1 { "is" } else { "are" },
                by.unwrap_or_default()
            )
        }
    }];
    if offsets.pairs.iter().any(|pair| pair.symmetric == Some(false)) {
        lines.push(
            "Offsets depend on which CPU asks: one of them answers late, or something was wrong with a counter under way."
                .to_owned(),
        );
    }
    if let Some(closure) = offsets.closure_ns {
        lines.push(format!("Offsets of three CPUs add up to within {}.", time(closure)));
    }
    lines
}
