//! An operating system's clock: a time in nanoseconds, made of some hardware's.

use crate::simulation::counter::SimulatedCounter;
use crate::simulation::linear::Linear;

/// Place of a clock among those of a machine.
pub type ClockId = usize;

/// The error number that a clock answers with instead of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refused(pub i32);

/// Time that a clock counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// True time.
    #[default]
    Time,
    /// CPU time of the thread that reads it.
    ThreadTime,
    /// CPU time of all threads together.
    ProcessTime,
}

/// A clock that the kernel steers by a rate of its own, and shows in steps.
#[derive(Clone, Debug)]
pub struct SimulatedClock {
    /// In ps.
    line: Linear,
    /// The rate that it has without steering, in ps a second.
    usual: f64,
    tick_ns: u64,
    /// The period of the timer that moves it, in ps; 0 for a clock that is computed at each read.
    moved_every_ps: u128,
    /// True if it is computed from the counter, and so is wrong where that is.
    is_on_counter: bool,
    counted: Counted,
    frozen_at: Option<i128>,
    refused: Option<Refused>,
    /// Time that it showed when a suspend began that it left out, in ps: the timer that moves it
    /// fires only some time after that.
    left_at: Option<i128>,
}

impl SimulatedClock {
    /// A clock of hardware that is right, at `start_ns` now.
    #[must_use]
    pub fn new(start_ns: u64) -> Self {
        let mut line = Linear::new(0, 1e12);
        line.set(0, i128::from(start_ns) * 1000);
        Self {
            line,
            usual: 1e12,
            tick_ns: 1,
            moved_every_ps: 0,
            is_on_counter: false,
            counted: Counted::Time,
            frozen_at: None,
            refused: None,
            left_at: None,
        }
    }

    /// Sets the error of its hardware: fast by `ppm`.
    #[must_use]
    pub fn with_error_ppm(mut self, ppm: f64) -> Self {
        self.usual = 1e12 * (1.0 + ppm * 1e-6);
        self.line.set_rate(0, self.usual);
        self
    }

    /// Sets its tick: it is shown in multiples of `ns`.
    #[must_use]
    pub fn with_tick_ns(self, ns: u64) -> Self {
        Self { tick_ns: ns.max(1), ..self }
    }

    /// Has it move only when a timer fires, each `ns` nanoseconds.
    #[must_use]
    pub fn moved_every_ns(self, ns: u64) -> Self {
        Self { moved_every_ps: u128::from(ns) * 1000, ..self }
    }

    /// Has it computed from the counter's reading: it shows that one's steps, offsets and faults.
    #[must_use]
    pub fn on_counter(self) -> Self {
        Self { is_on_counter: true, ..self }
    }

    /// Has it count CPU time: its true time in all methods is that, from 0 on. Only a
    /// [`Multiprocessor`](super::Multiprocessor) of which nothing changes the clock reads it
    /// rightly.
    #[must_use]
    pub fn counting(self, counted: Counted) -> Self {
        Self { counted, ..self }
    }

    /// The time that it counts.
    #[must_use]
    pub fn counted(&self) -> Counted {
        self.counted
    }

    /// The clock's time in ps, with nothing of it lost.
    #[must_use]
    pub fn truth_ps(&self, now_ps: u128) -> i128 {
        self.line.at(now_ps)
    }

    /// Time that a reading on this CPU shows, in ns.
    ///
    /// # Errors
    /// It refuses.
    pub fn read(&self, now_ps: u128, cpu: u32, counter: &SimulatedCounter) -> Result<u64, Refused> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let ps = self.frozen_at.unwrap_or_else(|| self.computed_ps(now_ps, cpu, counter));
        let ps = self.left_at.map_or(ps, |left_at| ps.max(left_at));
        // Of 64 bits where that does: it takes a tenth of the time.
        let ns = i64::try_from(ps).map_or_else(|_| ps.div_euclid(1000) as u64, |ps| ps.div_euclid(1000) as u64);
        Ok(ns / self.tick_ns * self.tick_ns)
    }

    /// Its time where the timer that moves it fired last, or the counter stepped.
    fn computed_ps(&self, now_ps: u128, cpu: u32, counter: &SimulatedCounter) -> i128 {
        let moved = if self.moved_every_ps == 0 { now_ps } else { now_ps - now_ps % self.moved_every_ps };
        // Computed from what the counter shows, at the clock's own rate.
        let counted = if self.is_on_counter { counter.counted_at(moved, cpu) } else { None };
        self.line.at(counted.unwrap_or(moved))
    }

    /// The step in which it is shown, in ns.
    #[must_use]
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// Shows it in other steps from now on.
    pub fn set_tick_ns(&mut self, ns: u64) {
        self.tick_ns = ns.max(1);
    }

    /// Steers it: fast by this share of its usual rate from now on. −1 stops it.
    pub fn slew(&mut self, now_ps: u128, share: f64) {
        self.line.set_rate(now_ps, self.usual * (1.0 + share));
    }

    /// Steps it by `ns` nanoseconds.
    pub fn step(&mut self, ns: i64) {
        self.line.step(i128::from(ns) * 1000);
        self.left_at = self.left_at.map(|left_at| left_at + i128::from(ns) * 1000);
    }

    /// Has it leave out a suspend of `ps` that begins now.
    pub(crate) fn leave_out(&mut self, now_ps: u128, ps: u128) {
        if self.moved_every_ps > 0 {
            self.left_at = Some(self.line.at(now_ps - now_ps % self.moved_every_ps));
        }
        self.line.leave_out(ps);
    }

    /// Has it show from now on what it shows now on a CPU without an offset.
    pub fn freeze(&mut self, now_ps: u128, counter: &SimulatedCounter) {
        self.frozen_at = Some(self.computed_ps(now_ps, 0, counter));
    }

    /// Has it go on from where it would be.
    pub fn thaw(&mut self) {
        self.frozen_at = None;
    }

    /// Has it refuse from now on, or answer again.
    pub fn refuse(&mut self, refused: Option<Refused>) {
        self.refused = refused;
    }

    /// Its time as a line in ps, and how that is changed.
    pub fn line(&mut self) -> &mut Linear {
        &mut self.line
    }

    /// Its rate relative to true time, as a factor.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.line.per_second() / 1e12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading_at(clock: &SimulatedClock, ns: u64) -> u64 {
        clock.read(u128::from(ns) * 1000, 0, &SimulatedCounter::new(1e9, 0)).unwrap()
    }

    #[test]
    fn ticks_timers_and_steering_show() {
        assert_eq!(reading_at(&SimulatedClock::new(500), 123), 623);
        assert_eq!(reading_at(&SimulatedClock::new(0).with_tick_ns(100), 1_299), 1_200);
        let coarse = SimulatedClock::new(0).moved_every_ns(4_000_000);
        assert_eq!([3_999_999, 4_000_000, 7_999_999].map(|ns| reading_at(&coarse, ns)), [0, 4_000_000, 4_000_000]);
        let mut fast = SimulatedClock::new(0).with_error_ppm(50.0);
        let after_a_second = reading_at(&fast, 1_000_000_000);
        assert!(after_a_second.abs_diff(1_000_050_000) <= 1);
        fast.slew(1_000_000_000_000, -1.0);
        assert_eq!(reading_at(&fast, 2_000_000_000), after_a_second);
        fast.step(-50_000);
        assert_eq!(reading_at(&fast, 2_000_000_000), after_a_second - 50_000);
    }

    #[test]
    fn a_clock_on_the_counter_is_as_wrong_as_that() {
        let clock = SimulatedClock::new(0).on_counter();
        let mut counter = SimulatedCounter::new(2e9, 0).with_step(20);
        counter.set_offset(1, 2_000);
        let read = |cpu| clock.read(1_000_007_000, cpu, &counter).unwrap();
        // 2,000,014 ticks, shown as 2,000,000; the other CPU is a microsecond ahead.
        assert_eq!((read(0), read(1)), (1_000_000, 1_001_000));
    }

    /// Two CPUs whose counters agree show one clock, which rises in the counter's steps and is as
    /// fast as it is steered.
    #[test]
    fn a_clock_on_the_counter_moves_when_that_moves() {
        for (ppm, hz, step) in [(-100.0, 2_596_160_000.0, 26), (100.0, 2_596_160_000.0, 26), (50.0, 24e6, 1)] {
            let clock = SimulatedClock::new(0).with_error_ppm(ppm).on_counter();
            let mut counter = SimulatedCounter::new(hz, 0).with_step(step);
            let mut last = (0, 0);
            for now_ps in (1_000_000..1_200_000).step_by(7) {
                let reading = (counter.read(now_ps, 0), clock.read(now_ps, 0, &counter).unwrap());
                assert!(reading.1 >= last.1 && (reading.0 != last.0 || reading.1 == last.1), "{last:?} {reading:?}");
                last = reading;
            }
            // 10 ms ahead, in the clock's own time.
            counter.set_offset(1, (hz / 100.0) as i64);
            let ahead = |cpu| clock.read(50_000_000_000, cpu, &counter).unwrap() as f64;
            assert!((ahead(1) - ahead(0) - 1e7 * (1.0 + ppm * 1e-6)).abs() < 20.0 + 1e9 / hz);
        }
    }

    #[test]
    fn readings_within_one_step_of_the_counter_are_equal() {
        let clock = SimulatedClock::new(0).with_error_ppm(-17.0).on_counter();
        let counter = SimulatedCounter::new(1e9, 0).with_step(36);
        let mut last = 0;
        for ns in 0..1_000_000_u64 {
            for ps in [0, 333, 999] {
                let reading = clock.read(u128::from(ns * 1000 + ps), 0, &counter).unwrap();
                assert!(reading == last || (35..=36).contains(&(reading - last)), "{ns}: {last} {reading}");
                last = reading;
            }
        }
    }

    /// It showed what it would have shown in the midst of the suspend, less the whole of that.
    #[test]
    fn a_coarse_clock_does_not_go_back_after_a_suspend() {
        let mut coarse = SimulatedClock::new(0).moved_every_ns(4_000_000);
        assert_eq!(reading_at(&coarse, 8_500_000), 8_000_000);
        coarse.leave_out(8_500_000_000, 3_000_000_000);
        let after = [11_500_000, 11_999_999, 12_000_000];
        assert_eq!(after.map(|ns| reading_at(&coarse, ns)), [8_000_000, 8_000_000, 9_000_000]);
        coarse.step(-1_000_000);
        assert_eq!(after.map(|ns| reading_at(&coarse, ns)), [7_000_000, 7_000_000, 8_000_000]);
    }

    /// A clock has never shown the time that it would show between two steps.
    #[test]
    fn a_clock_that_thaws_does_not_go_back() {
        let mut coarse = SimulatedClock::new(0).moved_every_ns(4_000_000);
        coarse.freeze(7_000_000_000, &SimulatedCounter::new(1e9, 0));
        assert_eq!(reading_at(&coarse, 9_000_000), 4_000_000);
        coarse.thaw();
        assert_eq!(reading_at(&coarse, 7_500_000), 4_000_000);
        let counter = SimulatedCounter::new(24e6, 0);
        let read = |clock: &SimulatedClock| clock.read(1_020_000, 0, &counter).unwrap();
        let mut counted = SimulatedClock::new(0).on_counter();
        counted.freeze(1_030_000, &counter);
        let frozen = read(&counted);
        counted.thaw();
        assert_eq!([frozen, read(&counted)], [1_000, 1_000]);
    }

    #[test]
    fn it_freezes_and_refuses() {
        let mut clock = SimulatedClock::new(0);
        clock.freeze(5_000_000, &SimulatedCounter::new(1e9, 0));
        assert_eq!(reading_at(&clock, 9_000), 5_000);
        clock.thaw();
        assert_eq!(reading_at(&clock, 9_000), 9_000);
        clock.refuse(Some(Refused(1)));
        assert_eq!(clock.read(0, 0, &SimulatedCounter::new(1e9, 0)), Err(Refused(1)));
    }
}
