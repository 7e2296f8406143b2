//! Pairs of clocks to which something happens: what is reported of their rates, against the truth.

use clockscope_records::RateRecord;

use crate::machine::{Machine, pause_ps};
use crate::rate::{ROUNDING_PPM, Seen, TICKED_NS, is_changed};
use crate::rate_truth::Bracket;

/// Nobody steers a clock by more than this share.
const STEERED: f64 = 0.1;

/// A pair and its brackets, with the true times of their reads.
pub(crate) struct Compared<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) clock: usize,
    pub(crate) reference: usize,
    /// ns a unit, where that was found.
    pub(crate) clock_ns: Option<f64>,
    pub(crate) brackets: Vec<Bracket>,
}

impl Compared<'_> {
    fn is_counter(&self, index: usize) -> bool {
        self.machine.specs[index].id.is_none()
    }

    fn is_ticked(&self) -> bool {
        [self.clock, self.reference].iter().any(|index| self.machine.specs[*index].tick_ns >= TICKED_NS)
    }

    /// ns a unit, nearly.
    fn unit_ns(&self, index: usize) -> f64 {
        match self.clock_ns.filter(|_| index == self.clock) {
            Some(ns) => ns,
            None if self.is_counter(index) => 1e9 / self.machine.counter_hz,
            None => 1.0,
        }
    }

    /// Gain of the clock on the reference between two true times, in ns, nearly.
    fn gained(&self, from_ps: u128, until_ps: u128) -> f64 {
        let ns = |index| self.machine.advance_between(index, from_ps, until_ps) * self.unit_ns(index);
        ns(self.clock) - ns(self.reference)
    }

    fn width_ns(&self, bracket: &Bracket) -> f64 {
        bracket.width() as f64 * self.unit_ns(self.reference)
    }

    fn lateness_ns(&self) -> f64 {
        [self.clock, self.reference].iter().map(|index| self.machine.lateness(*index) * self.unit_ns(*index)).sum()
    }

    /// A count of truth that is not shown.
    fn rounding_ns(&self) -> f64 {
        [self.clock, self.reference]
            .iter()
            .filter(|index| self.is_counter(**index))
            .map(|index| self.unit_ns(*index))
            .sum::<f64>()
            + 0.01
    }

    pub(crate) fn check(&self, record: &RateRecord, seen: &mut Seen) {
        let what = format!("{record:?}");
        if self.brackets.is_empty() {
            seen.ambiguous += 1;
            return;
        }
        if self.is_counter(self.reference) || self.brackets.len() < 2 {
            seen.by_ticks += 1;
        } else {
            self.bound(record, seen);
        }
        if self.brackets.len() < 2 {
            return;
        }
        self.constancy(record.constant.get(), &what);
        seen.constant += u64::from(record.constant.get() == Some(true));
        seen.changed += u64::from(record.constant.get() == Some(false));
        self.moment(record, seen);
        self.step(record, seen);
    }

    /// The bounds hold what clock and reference truly counted between the two brackets that the
    /// record compares. Where several pairs are as far apart, that is one of these.
    fn bound(&self, record: &RateRecord, seen: &mut Seen) {
        let seconds = record.seconds.get().expect("it was compared");
        let ends = self.between_ends(seconds);
        assert!(!ends.is_empty(), "no brackets are {seconds} s apart: {record:?}");
        seen.bounds += 1;
        seen.several += u64::from(ends.len() > 1);
        let bound = record.bound_ppm.get().expect("it is there");
        let rounding = (self.rounding_ns() + 1e-3) / seconds / 1e3 + ROUNDING_PPM;
        let nominal = if self.is_counter(self.clock) { record.nominal_hz.get().map(|hz| 1e9 / hz) } else { Some(1.0) };
        let frequency = record.frequency_hz.get().zip(record.frequency_bound_hz.get());
        let holds = |[clock, reference]: &[f64; 2]| {
            let rate = clock / reference;
            let is_frequency =
                frequency.is_none_or(|(hz, bound_hz)| (rate * 1e9 - hz).abs() <= bound_hz + hz.abs() * rounding * 1e-6);
            let is_ppm = record
                .ppm
                .get()
                .zip(nominal)
                .is_none_or(|(ppm, unit_ns)| ((rate * unit_ns - 1.0) * 1e6 - ppm).abs() <= bound + rounding);
            is_frequency && is_ppm
        };
        assert!(ends.iter().any(holds), "the truth is one of {ends:?}, in {seconds} s: {record:?}");
    }

    /// True counts of clock and reference between two brackets of the first and the last quarter
    /// that are `seconds` apart.
    fn between_ends(&self, seconds: f64) -> Vec<[f64; 2]> {
        let quarter = self.brackets.len().div_ceil(4);
        let middle = |bracket: &Bracket| {
            let since = |value: u64| value.wrapping_sub(self.brackets[0].before.value) as i64 as f64;
            f64::midpoint(since(bracket.before.value), since(bracket.after.value))
        };
        let firsts = &self.brackets[..quarter];
        let lasts = &self.brackets[self.brackets.len() - quarter..];
        // In order of time: a long run has many times many pairs.
        let mut ends: Vec<(f64, &Bracket)> = lasts.iter().map(|last| (middle(last), last)).collect();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let apart = |first: &Bracket| {
            let end_ns = middle(first) + seconds * 1e9;
            let from = ends.partition_point(|(ns, _)| *ns <= end_ns - 0.01);
            ends[from..].iter().take_while(move |(ns, _)| *ns < end_ns + 0.01).map(|(_, last)| *last)
        };
        let pairs = firsts.iter().flat_map(|first| apart(first).map(move |last| (first, last)));
        let counted = |(first, last): (&Bracket, &Bracket)| {
            let indices = [self.clock, self.reference];
            indices.map(|index| self.machine.advance_between(index, first.clock.taken_ps, last.clock.taken_ps))
        };
        pairs.map(counted).collect()
    }

    /// Is reported as constant only where brackets can hide what changed, and as changed only where
    /// something did.
    pub(crate) fn constancy(&self, constant: Option<bool>, what: &str) {
        let Some(constant) = constant else { return };
        assert!(!self.is_ticked(), "{what}");
        let [first, .., last] = &self.brackets[..] else { return };
        let (start, end) = (first.clock.taken_ps, last.clock.taken_ps);
        let time = |bracket: &Bracket| self.machine.advance_between(self.reference, start, bracket.clock.taken_ps);
        let (whole_time, whole) = (time(last), self.gained(start, end));
        let bends = self.brackets.iter().map(|bracket| {
            let bend = (self.gained(start, bracket.clock.taken_ps) - whole * (time(bracket) / whole_time)).abs();
            let hides = self.width_ns(bracket) + self.width_ns(first) + self.width_ns(last) + 3.0 * self.lateness_ns();
            (bend, hides)
        });
        let bends: Vec<_> = bends.collect();
        if constant {
            let shows = bends.iter().find(|(bend, hides)| *bend > hides + self.rounding_ns());
            assert!(shows.is_none(), "bent by {shows:?} ns: {what}");
        } else {
            let most = bends.iter().map(|(bend, _)| *bend).fold(0.0, f64::max);
            assert!(most > 0.1 * self.rounding_ns(), "bent by {most} ns at most: {what}");
            assert!(is_changed(self.machine, self.clock) || is_changed(self.machine, self.reference), "{what}");
        }
    }

    /// Checks the moment at which the rate changed, where it did so once.
    fn moment(&self, record: &RateRecord, seen: &mut Seen) {
        let (Some(changed), [(at_ps, change)]) = (record.changed.known(), &self.machine.changes[..]) else { return };
        let paused_ps = u128::from(pause_ps(change));
        let first_ps = self.brackets[0].before.taken_ps;
        if *at_ps < first_ps || self.is_counter(self.reference) {
            return;
        }
        seen.located += 1;
        let at = |ps: u128| self.machine.advance_between(self.reference, first_ps, ps) / 1e9;
        let (soonest, latest) = (at(at_ps.saturating_sub(1)), at(at_ps + paused_ps));
        let (soonest, latest) = (soonest.min(latest), soonest.max(latest));
        let slack_s = (self.lateness_ns() + 1.0) / 1e9;
        assert!(
            changed.from_s <= latest + slack_s && soonest <= changed.until_s + slack_s,
            "it changed at {soonest} to {latest} s: {record:?}"
        );
    }

    /// A step is reported with its size, wherever it is larger than what steering explains.
    fn step(&self, record: &RateRecord, seen: &mut Seen) {
        if self.is_ticked() || self.is_counter(self.reference) {
            assert!(!record.step.is_known() || !self.is_ticked(), "{record:?}");
            return;
        }
        let gains: Vec<_> = self
            .brackets
            .windows(2)
            .map(|pair| {
                let (from_ps, until_ps) = (pair[0].clock.taken_ps, pair[1].clock.taken_ps);
                let time_ns = self.machine.advance_between(self.reference, from_ps, until_ps);
                (
                    self.gained(from_ps, until_ps),
                    time_ns,
                    self.width_ns(&pair[0]) + self.width_ns(&pair[1]) + 2.0 * self.lateness_ns(),
                    &pair[1],
                )
            })
            .collect();
        let passing = gains.iter().filter(|(_, time, ..)| *time > 0.0);
        let mut rates: Vec<f64> = passing.map(|(gain, time, ..)| gain / time).collect();
        if rates.is_empty() {
            return;
        }
        rates.sort_by(f64::total_cmp);
        let (lower, upper) = (rates[(rates.len() - 1) / 2], rates[rates.len() / 2]);
        let usual = if lower.abs() < upper.abs() { lower } else { upper };
        if let Some(step) = record.step.known() {
            seen.steps += 1;
            let since = |bracket: &Bracket| {
                bracket.before.value.wrapping_sub(self.brackets[0].before.value) as i64 as f64 / 1e9
            };
            // A reference that stands still shows the same time for several.
            let is_it = |(gain, time, error, bracket): &(f64, f64, f64, &Bracket)| {
                let by = gain - usual * time;
                // Scales of counters are known nearly, and what is usual is found from brackets.
                let error = 2.0 * error + 1e-3 * time.abs() + 1e-3 * by.abs() + 1.0;
                (since(bracket) - step.at_s).abs() < 1e-9
                    && (by > 0.0) == (step.ns > 0.0)
                    && (by - step.ns).abs() <= error
            };
            assert!(
                gains.iter().any(is_it),
                "it gained {:?} ns: {record:?}",
                gains.iter().map(|gain| gain.0).collect::<Vec<_>>()
            );
        } else {
            let large = gains.iter().find(|(gain, time, error, _)| {
                let by = (gain - usual * time).abs();
                by > 2.0 * STEERED * time.abs() + 3.0 * error + 1e4
                    && gain.abs() > 2.0 * STEERED * time.abs() + 3.0 * error + 1e4
            });
            assert!(
                large.is_none(),
                "it stepped by {:?} ns: {record:?}",
                large.map(|large| (large.0, large.1, large.2))
            );
        }
    }
}
