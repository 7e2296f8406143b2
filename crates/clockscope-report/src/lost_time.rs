//! What the system counted while a thread lost time, in words.

use clockscope_records::{GapCounts, Gaps, WorstGap};

/// Puts the words beside the counts.
pub(crate) fn explain(gaps: &mut Gaps) {
    for gap in &mut gaps.worst {
        gap.detail = counted(gap);
    }
}

/// Returns the counts of a gap in words, empty if there are none; `None` where a record has none.
pub(crate) fn counted(gap: &WorstGap) -> Option<String> {
    gap.counted.as_ref().map(words).or_else(|| gap.detail.clone())
}

fn words(counts: &GapCounts) -> String {
    let GapCounts { moved, involuntary, voluntary, steal_ns, interrupts, while_asking } = counts;
    let moved = moved.map(|[before, after]| format!("CPU {before} to {after}"));
    let switches = [(involuntary, "involuntary"), (voluntary, "voluntary")];
    let switches = switches.into_iter().filter(|(count, _)| **count > 0).map(|(count, kind)| format!("{count} {kind}"));
    let steal = Some(*steal_ns).filter(|ns| *ns > 0).map(|ns| format!("steal {} ms", ns / 1_000_000));
    let interrupts = interrupts.iter().map(|one| format!("{} +{}", one.name, one.count));
    let all: Vec<String> = moved.into_iter().chain(switches).chain(steal).chain(interrupts).collect();
    match (all.join(", "), while_asking) {
        (all, false) => all,
        (all, true) if all.is_empty() => "while asking about another".to_owned(),
        (all, true) => format!("{all} (while asking about another)"),
    }
}

#[cfg(test)]
mod tests {
    use clockscope_records::InterruptCount;

    use super::*;

    #[test]
    fn counts_are_named_in_one_line() {
        assert_eq!(words(&GapCounts::default()), "");
        let asking = GapCounts { while_asking: true, ..GapCounts::default() };
        assert_eq!(words(&asking), "while asking about another");
        let counts = GapCounts {
            moved: Some([1, 0]),
            involuntary: 2,
            voluntary: 1,
            steal_ns: 20_000_000,
            interrupts: vec![InterruptCount { name: "LOC".to_owned(), count: 3 }],
            ..asking
        };
        let named = "CPU 1 to 0, 2 involuntary, 1 voluntary, steal 20 ms, LOC +3 (while asking about another)";
        assert_eq!(words(&counts), named);
    }
}
