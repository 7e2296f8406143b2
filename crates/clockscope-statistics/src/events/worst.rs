//! The worst events of each kind: when they happened, and how large they were.

/// Events of a kind that are remembered.
pub const MAX_WORST_EVENTS: usize = 10;

/// Kinds of events between readings. docs/reference/method/events.md has the definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A run of many repeats of one value.
    Stuck,
    /// A run of a few repeats of one value.
    Stall,
    /// A jump of more than [`super::WARP_NS`].
    Warp,
    /// A step forward that the reference did not see.
    Jump,
    /// A step forward that the reference saw too.
    Gap,
    /// A step back.
    Regression,
    /// A loss of time that no reading shows.
    HiddenRegression,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Stuck, Self::Stall, Self::Warp, Self::Jump, Self::Gap, Self::Regression, Self::HiddenRegression];
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorstEvent {
    /// Time of the event, in ns of the reference since the first batch, to the length of a batch.
    pub at_ns: f64,
    /// Size of the event: repeats for stuck readings and stalls, ns for all others.
    pub size: f64,
}

/// The [`MAX_WORST_EVENTS`] largest events of each kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorstEvents([Vec<WorstEvent>; EventKind::ALL.len()]);

impl WorstEvents {
    /// Takes all memory that it will ever need.
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| Vec::with_capacity(MAX_WORST_EVENTS)))
    }

    pub(super) fn add(&mut self, kind: EventKind, event: WorstEvent) {
        let list = &mut self.0[kind as usize];
        let index = list.partition_point(|known| known.size >= event.size);
        if index < MAX_WORST_EVENTS {
            list.truncate(MAX_WORST_EVENTS - 1);
            list.insert(index, event);
        }
    }

    /// The largest events of a kind, the largest first; of equals the earliest first.
    #[must_use]
    pub fn of_kind(&self, kind: EventKind) -> &[WorstEvent] {
        &self.0[kind as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_stay() {
        let mut worst = WorstEvents::new();
        for turn in 0..1000u32 {
            let size = f64::from(turn * 7 % 1000);
            worst.add(EventKind::Gap, WorstEvent { at_ns: f64::from(turn), size });
        }
        let sizes: Vec<f64> = worst.of_kind(EventKind::Gap).iter().map(|event| event.size).collect();
        assert_eq!(sizes, (990..1000).rev().map(f64::from).collect::<Vec<_>>());
        assert!(worst.of_kind(EventKind::Jump).is_empty());
    }
}
