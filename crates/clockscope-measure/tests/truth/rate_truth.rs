//! Truth of a comparison of two clocks.

use clockscope_testing::simulation::{Change, ClockId};

use crate::machine::{Clocksource, Machine, Spec};
use crate::platform::Read;

/// The reference and the clock in between, as one bracket read them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bracket {
    pub(crate) before: Read,
    pub(crate) clock: Read,
    pub(crate) after: Read,
}

impl Bracket {
    /// Its width in units of the reference.
    pub(crate) fn width(&self) -> u64 {
        self.after.value.wrapping_sub(self.before.value)
    }
}

/// The narrowest bracket of each round of one pair: brackets of a round follow each other without
/// another read in between. A clock that is not ordered is fenced by reads of the timer.
pub(crate) fn narrowest_brackets(reads: &[Read], [clock, reference]: [usize; 2], fence: Option<usize>) -> Vec<Bracket> {
    let (before, after): (Vec<usize>, usize) = match fence {
        Some(fence) => (vec![reference, fence, clock, fence, reference], 5),
        None => (vec![reference, clock, reference], 3),
    };
    let (mut brackets, mut last_end) = (Vec::<Bracket>::new(), usize::MAX);
    let mut start = 0;
    while start + after <= reads.len() {
        if !reads[start..start + after].iter().map(|read| read.clock_index).eq(before.iter().copied()) {
            start += 1;
            continue;
        }
        let bracket =
            Bracket { before: reads[start], clock: reads[start + after / 2], after: reads[start + after - 1] };
        match brackets.last_mut().filter(|_| last_end == start) {
            Some(last) if bracket.width() < last.width() => *last = bracket,
            Some(_) => {}
            None => brackets.push(bracket),
        }
        start += after;
        last_end = start;
    }
    brackets
}

impl Machine {
    /// Place of the clock of this name.
    pub(crate) fn clock_index(&self, label: &str) -> usize {
        self.specs.iter().position(|spec| spec.label() == label).expect("there is such a clock")
    }

    /// Difference between what a clock shows at two true times in ps, but for its tick: ns, or
    /// counts.
    pub(crate) fn advance_between(&self, index: usize, from_ps: u128, until_ps: u128) -> f64 {
        match self.specs[index].id {
            None => {
                let counter = |ps| self.cpus.true_counter(ps, 0);
                counter(until_ps).wrapping_sub(counter(from_ps)) as i64 as f64
            }
            Some(id) => {
                let reading = |ps| self.cpus.true_clock_ps(id, self.frozen(id, ps));
                (reading(until_ps) - reading(from_ps)) as f64 / 1e3
            }
        }
    }

    /// The time that a clock shows at this time.
    fn frozen(&self, id: ClockId, ps: u128) -> u128 {
        let mut since = None;
        for (at_ps, change) in self.changes.iter().filter(|(at_ps, _)| *at_ps <= ps) {
            match change {
                Change::FreezeClock { clock } if *clock == id => since = Some(*at_ps),
                Change::ThawClock { clock } if *clock == id => since = None,
                _ => {}
            }
        }
        since.unwrap_or(ps)
    }

    /// Largest lateness of a reading, in the clock's unit: its tick, and the digits that it does
    /// not show. No change makes it later than that.
    pub(crate) fn lateness(&self, index: usize) -> f64 {
        let spec = &self.specs[index];
        match spec.id {
            None => self.counter_step as f64,
            Some(_) => spec.tick_ns + if self.clocksource == Clocksource::Tsc { 1.0 } else { 0.0 },
        }
    }

    /// Seconds that a clock counts in one of true time, unless something changes it.
    pub(crate) fn seconds(&self, spec: &Spec) -> f64 {
        if spec.id.is_some() { 1.0 + spec.fast } else { self.raw_seconds() }
    }

    /// True seconds in a second of the clock that the timer is calibrated with, by which a counter
    /// that is the reference has a length.
    pub(crate) fn raw_seconds(&self) -> f64 {
        1.0 + self.spec("monotonic_raw:syscall").expect("every machine has one").fast
    }
}
