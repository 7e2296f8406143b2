//! A clock under test in a world.

use clockscope::disciplined::{Counter, Disciplined};
use clockscope::{Finding, Source, Value};

use super::{GHZ, MILLISECOND, SECOND, World, in_f64};

/// The clock under test, and what its readings have been.
pub(crate) struct Watch<C> {
    pub(crate) world: &'static World,
    pub(crate) clock: Disciplined<C, &'static World>,
    pub(crate) last: u64,
}

impl Watch<&'static World> {
    pub(crate) fn new(world: World) -> Self {
        Self::with(world, |world| world)
    }

    /// A counter of an odd frequency that has run for a while.
    pub(crate) fn ordinary() -> Self {
        Self::new(World::new(2.596_159_9 * GHZ, 1 << 50, 12_345 * SECOND))
    }
}

impl<C: Counter> Watch<C> {
    /// The world's counter as `counter` shows it.
    pub(crate) fn with(world: World, counter: impl FnOnce(&'static World) -> C) -> Self {
        let world: &'static World = Box::leak(Box::new(world));
        Self { world, clock: Disciplined::new(counter(world), world), last: 0 }
    }

    /// One reading, which must not be smaller than the one before, and how far it was from the OS
    /// clock, in ns.
    pub(crate) fn read(&mut self) -> f64 {
        let before = self.world.os_ps();
        let ns = self.clock.now().as_ns();
        assert!(ns >= self.last, "{ns} came after {}", self.last);
        self.last = ns;
        // Ahead of the OS clock on purpose, after that stepped back.
        let ns = ns - self.clock.timeline_offset().as_nanos() as u64;
        let ahead = self.world.ahead_ns(ns);
        let behind = (in_f64(before - i128::from(ns) * 1000) / 1000.0).floor() - 1.0;
        ahead.max(behind).max(0.0)
    }

    /// Some tens of ns: no program reads to the ns.
    pub(crate) fn jitter_ns(&self) -> u64 {
        (self.last ^ self.last >> 7).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 58
    }

    /// Reads every `every` ns for `ns`, and returns the largest distance from the OS clock.
    pub(crate) fn run(&mut self, ns: u64, every: u64) -> f64 {
        let mut worst = 0f64;
        for _ in 0..ns / every {
            self.world.pass(every + self.jitter_ns());
            worst = worst.max(self.read());
        }
        worst
    }

    /// Reads often, but only now and then: for six milliseconds every half a second, for `ns`.
    pub(crate) fn run_in_spells(&mut self, ns: u64) {
        for _ in 0..ns / (500 * MILLISECOND) {
            self.world.pass(494 * MILLISECOND);
            self.run(6 * MILLISECOND, 2_000);
        }
    }

    /// Reads often until the counter is in use.
    pub(crate) fn settle(&mut self) {
        self.run(30 * MILLISECOND, 5_000);
        assert_eq!(self.clock.source(), Source::Counter);
    }

    /// Asserts that the counter is not in use, nor read any more, and that the OS clock is served.
    pub(crate) fn assert_demoted(&mut self) {
        assert_eq!(self.clock.source(), Source::OsClock);
        let reads = self.world.counter_reads.get();
        self.run(10 * MILLISECOND, 5_000);
        assert_eq!(self.clock.source(), Source::OsClock);
        assert_eq!(self.world.counter_reads.get(), reads);
        let outcome = self.clock.evidence().into_iter().find(|evidence| evidence.name == "outcome").unwrap();
        assert_eq!(outcome.finding, Finding::Against);
    }

    /// Returns true if the counter is not in use, for this reason.
    pub(crate) fn is_demoted_as(&self, word: &str) -> bool {
        let evidence = self.clock.evidence();
        let outcome = evidence.iter().find(|evidence| evidence.name == "outcome");
        outcome.and_then(|outcome| outcome.value.clone()) == Some(Value::Word(word.to_owned().into()))
    }

    /// A fresh error bound, which must hold for the reading that follows.
    pub(crate) fn assert_bound(&mut self) -> u64 {
        let bound = self.clock.error_bound().unwrap();
        let error = self.read();
        // The reading follows a few reads of both clocks later: a slew of 1000 ppm moves them by
        // less than a ns.
        assert!(error <= bound.now.as_nanos() as f64 + 2.0, "{error} ns with a bound of {bound:?}");
        assert!(bound.now <= bound.largest);
        bound.now.as_nanos() as u64
    }
}
