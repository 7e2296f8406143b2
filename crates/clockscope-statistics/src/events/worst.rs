//! The worst events of each kind: when they happened, and how large they were.

use clockscope_records::{Worst, WorstEvent};

/// Events of a kind that are remembered.
const MAX_WORST_EVENTS: usize = 10;

/// Takes all memory that the worst events will ever need.
pub(super) fn with_capacity() -> Worst {
    let [stuck, stall, warp, jump, gap, regression, hidden_regression] =
        std::array::from_fn(|_| Vec::with_capacity(MAX_WORST_EVENTS));
    Worst { stuck, stall, warp, jump, gap, regression, hidden_regression }
}

/// Adds an event to those of its kind, if it is one of the largest: the largest is first, of equals
/// the earliest.
pub(super) fn add(list: &mut Vec<WorstEvent>, event: WorstEvent) {
    let size = (event.size_ns, event.repeats);
    let index = list.partition_point(|known| (known.size_ns, known.repeats) >= size);
    if index < MAX_WORST_EVENTS {
        list.truncate(MAX_WORST_EVENTS - 1);
        list.insert(index, event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay() {
        let mut worst = with_capacity();
        for turn in 0..1000u32 {
            let size_ns = f64::from(turn * 7 % 1000);
            add(&mut worst.gap, WorstEvent::sized(f64::from(turn), size_ns));
            add(&mut worst.stall, WorstEvent::repeated(f64::from(turn), size_ns as u64));
        }
        let sizes: Vec<f64> = worst.gap.iter().filter_map(|event| event.size_ns).collect();
        assert_eq!(sizes, (990..1000).rev().map(f64::from).collect::<Vec<_>>());
        let repeats: Vec<u64> = worst.stall.iter().filter_map(|event| event.repeats).collect();
        assert_eq!(repeats, (990..1000).rev().collect::<Vec<_>>());
    }
}
