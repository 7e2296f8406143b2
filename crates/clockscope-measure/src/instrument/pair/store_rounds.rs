//! Rounds of two threads: one stores a word and reads the clock, the other reads the clock and
//! loads the word. A later time with the value from before the store is a violation.
//!
//! Both begin each round at the same moment, apart from delays that change from round to round. The
//! other CPU's cache has the lines, so the store waits in the store buffer while the clock is read.

use std::array;
use std::hint::black_box;
use std::sync::atomic::Ordering;

use clockscope_core::counter::memory_order::stored_before_reading;
use clockscope_system::{Errno, RawClock};

use crate::instrument::pair::handoff::{Apart, HandoffGuard, hurry};
use crate::instrument::pair::{Deadline, Side};
use crate::platform::{Platform, SharedWord};

/// Rounds that are begun even if there is no time: one has both times when the next begins.
const MIN_ROUNDS: u64 = 2;
/// Longest delay in a round, in turns of an empty loop.
const DELAYS: u64 = 16;
/// Words stored in each round before the one that is loaded: its store waits for theirs.
const EARLIER_WORDS: usize = 4;

/// State that the two threads share. For one use.
pub(crate) struct StoreRounds<'a, P: Platform> {
    platform: &'a P,
    /// The writer waits for its stores before it reads the clock.
    is_fenced: bool,
    /// The round whose store has been made. An array: the index to load depends on a reading.
    stored: [Apart<P::Word>; 1],
    earlier: [Apart<P::Word>; EARLIER_WORDS],
    /// The writer's readings in rounds of even and odd numbers.
    stamps: [Apart<P::Word>; 2],
    /// The round that each side has come to, from 1.
    arrived: [Apart<P::Word>; 2],
    /// Not 0 once it is over.
    over: Apart<P::Word>,
}

/// Counts of the side that loads, and the error that ended either side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StoreCounts {
    pub(crate) rounds: u64,
    /// Rounds in which it loaded the value from before the store.
    pub(crate) earlier_values: u64,
    /// Those of them in which its time was the later one.
    pub(crate) violations: u64,
    /// Largest difference of these times, in the clock's unit.
    pub(crate) worst: u64,
    pub(crate) error: Option<Errno>,
}

impl StoreCounts {
    #[inline(always)]
    fn add(&mut self, is_earlier_value: bool, later: i64) {
        self.rounds += 1;
        self.earlier_values += u64::from(is_earlier_value);
        if is_earlier_value && later > 0 {
            self.violations += 1;
            self.worst = self.worst.max(later as u64);
        }
    }

    fn ended(self, outcome: Result<(), Errno>) -> Self {
        Self { error: outcome.err(), ..self }
    }
}

impl<'a, P: Platform> StoreRounds<'a, P> {
    pub(crate) fn new(platform: &'a P, is_fenced: bool) -> Self {
        Self {
            platform,
            is_fenced,
            stored: [Apart::word(platform)],
            earlier: array::from_fn(|_| Apart::word(platform)),
            stamps: array::from_fn(|_| Apart::word(platform)),
            arrived: array::from_fn(|_| Apart::word(platform)),
            over: Apart::word(platform),
        }
    }

    /// Runs one side until the one that has a deadline finds it over: that one stores.
    pub(crate) fn run<C: RawClock>(&self, clock: &C, keeper: Option<Deadline<'_, P>>) -> StoreCounts {
        let _ending = HandoffGuard(&self.over.0);
        match keeper {
            Some(keeper) => StoreCounts::default().ended(self.write(clock, keeper)),
            None => self.read(clock),
        }
    }

    #[inline(never)]
    fn write<C: RawClock>(&self, clock: &C, keeper: Deadline<'_, P>) -> Result<(), Errno> {
        let mut keeper = Some(keeper);
        let mut round = 1;
        while self.meet(Side::First, round, &mut keeper) {
            delay(round % DELAYS);
            for word in &self.earlier {
                word.0.store(round, Ordering::Relaxed);
            }
            self.stored[0].0.store(round, Ordering::Relaxed);
            if self.is_fenced {
                stored_before_reading();
            }
            let reading = read(clock)?;
            self.stamps[(round % 2) as usize].0.store(reading, Ordering::Relaxed);
            let is_over = keeper.as_mut().is_some_and(Deadline::is_over);
            if is_over && round >= MIN_ROUNDS {
                break;
            }
            round += 1;
        }
        Ok(())
    }

    #[inline(never)]
    fn read<C: RawClock>(&self, clock: &C) -> StoreCounts {
        let mut counts = StoreCounts::default();
        let (mut round, mut last_reading, mut last_loaded) = (1, 0_u64, 0);
        while self.meet(Side::Second, round, &mut None) {
            delay(round / DELAYS % DELAYS);
            let reading = match read(clock) {
                Ok(reading) => reading,
                Err(error) => return counts.ended(Err(error)),
            };
            let loaded = self.load_after(reading);
            for word in &self.earlier {
                // Takes the line from the writer's cache.
                word.0.store(0, Ordering::Relaxed);
            }
            // The writer has read its clock in the round before, as it has come to this one.
            if round > 1 {
                let stamp = self.stamps[((round - 1) % 2) as usize].0.load(Ordering::Relaxed);
                counts.add(last_loaded < round - 1, last_reading.wrapping_sub(stamp) as i64);
            }
            (last_reading, last_loaded) = (reading, loaded);
            round += 1;
        }
        counts
    }

    /// Loads the word as it is after the clock showed `reading`. The processor may load earlier,
    /// but not from an address that it does not know yet.
    #[inline(always)]
    fn load_after(&self, reading: u64) -> u64 {
        if cfg!(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64"))) {
            stored_before_reading();
        }
        let index = (reading & black_box(0)) as usize;
        self.stored[index].0.load(Ordering::Relaxed)
    }

    /// Waits until the other side has come to this round, too. Returns false if it never will.
    #[inline(always)]
    fn meet(&self, side: Side, round: u64, keeper: &mut Option<Deadline<'_, P>>) -> bool {
        self.arrived[side.index()].0.store(round, Ordering::Release);
        let other = &self.arrived[side.other().index()].0;
        let is_long = self
            .platform
            .wait_until(|| other.load(Ordering::Acquire) >= round || self.over.0.load(Ordering::Relaxed) != 0);
        hurry(is_long, keeper);
        other.load(Ordering::Acquire) >= round
    }
}

#[inline(always)]
fn read<C: RawClock>(clock: &C) -> Result<u64, Errno> {
    let mut raw = C::Raw::default();
    clock.read(&mut raw)?;
    Ok(clock.value(&raw))
}

#[inline(always)]
fn delay(turns: u64) {
    for _ in 0..turns {
        black_box(());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_value_with_a_later_time_is_a_violation() {
        let mut counts = StoreCounts::default();
        for (is_earlier_value, later) in [(false, 5), (false, -5), (true, 0), (true, -5), (true, 3), (true, 2)] {
            counts.add(is_earlier_value, later);
        }
        assert_eq!(counts, StoreCounts { rounds: 6, earlier_values: 4, violations: 2, worst: 3, error: None });
    }
}
