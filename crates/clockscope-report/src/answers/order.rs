//! Order across CPUs.

use clockscope_records::{Order, Sequence};

use super::{Block, by_reason, counted, grouped, sentence};
use crate::cells::{UNKNOWN, known, significant, time, trimmed};

const HEAD: [&str; 8] = ["Clock", "Ordered", "Handoffs", "Regr", "per 10^6", "Worst", "From CPU to", "Handoffs/s"];

pub(super) fn blocks(order: &Order) -> Vec<Block> {
    let tested: Vec<&Sequence> = order.sequences.iter().filter(|sequence| sequence.handoffs > 0).collect();
    let mut table = Block::table("", &HEAD, 1, tested.iter().map(|sequence| row(sequence)).collect());
    table.faults = tested.iter().map(|sequence| is_faulty(sequence)).collect();
    if let Some(bare) = order.bare_handoffs_per_second.filter(|_| !tested.is_empty()) {
        table
            .lines
            .push(format!("Without a clock, two threads hand a word to and fro {} times a second.", million(bare)));
    }
    let lost = order.lost.iter().map(|lost| (format!("CPUs {} and {}", lost.a, lost.b), lost.reason.as_str()));
    let disturbed = tested.iter().filter_map(|sequence| Some((sequence.name.clone(), sequence.reason.as_deref()?)));
    let disturbed = by_reason(disturbed);
    let missing = order.sequences.iter().filter(|sequence| sequence.handoffs == 0);
    let missing = missing.filter_map(|sequence| Some((sequence.name.clone(), sequence.reason.as_deref()?)));
    vec![
        table,
        Block::lines("Not tested, or not to the end:", by_reason(lost.filter(|_| !tested.is_empty()))),
        Block::lines("Disturbed:", disturbed),
        Block::lines("Not available:", by_reason(missing)),
    ]
}

fn row(sequence: &Sequence) -> Vec<String> {
    // No step back is not an unknown step.
    let if_any = |text: Option<String>| match sequence.regressions {
        Some(0) => "-".to_owned(),
        _ => text.unwrap_or_else(|| UNKNOWN.to_owned()),
    };
    vec![
        sequence.name.clone(),
        if sequence.ordered { "yes" } else { "no" }.to_owned(),
        grouped(sequence.handoffs),
        known(sequence.regressions, grouped),
        known(sequence.regressions_per_million, |per_million| trimmed(&significant(per_million, 3)).to_owned()),
        if_any(sequence.worst_ns.map(time)),
        if_any(sequence.worst_pair.map(|[from, to]| format!("{from} to {to}"))),
        known(sequence.handoffs_per_second, million),
    ]
}

fn is_faulty(sequence: &Sequence) -> bool {
    sequence.ordered && sequence.regressions.is_some_and(|count| count > 0)
}

fn million(count: f64) -> String {
    format!("{} M", trimmed(&significant(count / 1e6, 3)))
}

pub(super) fn conclusion(order: &Order) -> Vec<String> {
    if let Some(reason) = &order.untestable {
        return vec![sentence(format!("Order across CPUs could not be tested: {reason}"))];
    }
    let went_back = |ordered: bool| {
        let sequences = order.sequences.iter().filter(move |sequence| sequence.ordered == ordered);
        sequences.filter(|sequence| sequence.regressions.is_some_and(|count| count > 0)).collect::<Vec<_>>()
    };
    let ordered = order.sequences.iter().filter(|sequence| sequence.ordered && sequence.handoffs > 0);
    let handoffs: u64 = ordered.clone().map(|sequence| sequence.handoffs).sum();
    let across = format!("across {} CPUs ({})", order.cpus.len(), counted(order.pairs_tested, "pair"));
    let faulty = went_back(true);
    let mut lines = vec![if handoffs == 0 {
        format!("No ordered clock was tested {across}.")
    } else if faulty.is_empty() {
        format!("Of {} ordered readings handed over {across}, none went back.", grouped(handoffs))
    } else {
        let names: Vec<String> = faulty.iter().map(|sequence| described(sequence)).collect();
        format!("Ordered readings WENT BACK {across}: {}.", names.join("; "))
    }];
    if !faulty.is_empty() {
        lines.push(
            "Times of different CPUs cannot be compared by these clocks: `clockscope offsets` tells how far the CPUs' counters \
             are apart."
                .to_owned(),
        );
    }
    let unordered = went_back(false);
    if !unordered.is_empty() {
        let names: Vec<String> = unordered.iter().map(|sequence| described(sequence)).collect();
        lines.push(format!(
            "Unordered reads went back, as they may: {}. They may be done before what comes before them in the program; to \
             compare times of several threads, use an ordered one.",
            names.join("; ")
        ));
    }
    lines
}

/// `tsc 12 of 3,000, by up to 5 ns`.
fn described(sequence: &Sequence) -> String {
    let worst = sequence.worst_ns.map_or_else(String::new, |ns| format!(", by up to {}", time(ns)));
    format!("{} {} of {}{worst}", sequence.name, known(sequence.regressions, grouped), grouped(sequence.handoffs))
}
