//! One clock against another: their brackets, and what these tell.

use std::hint::black_box;

use clockscope_brackets::{Bracket, Ticks};
use clockscope_records::{Allan, Changed, Mtie, RatePair, RateRecord, Step};
use clockscope_sources::Errno;
use clockscope_statistics::{
    BracketNs, Constancy, Rate, allan_deviation, even_phases, maximum_time_interval_error, rate, rate_bounds,
};

use super::error::{middle, of_inverse};
use super::rated::{RatedClock, Scale};
use super::unknown::{FEW, NO_SCALE, TICKED, TOO_FEW, explain};
use crate::platform::Platform;

/// Brackets of a pair at both ends, which the bound stands on.
pub(super) const BRACKETS_AT_ENDS: usize = 200;

/// Most brackets that are kept; more are thinned out.
const MOST: usize = 4096;
/// Parts per million of 1.
const PPM: f64 = 1e6;

/// The brackets of one pair: the clock is read between two readings of the reference.
pub(super) struct Comparison {
    pub(super) clock: usize,
    pub(super) reference: usize,
    brackets: Vec<Bracket>,
    /// One of so many rounds is kept.
    every: usize,
    rounds: usize,
    /// Brackets of which a read failed, and how often it was the clock's.
    failed: u64,
    errors: u64,
    error: Option<Errno>,
}

impl Comparison {
    pub(super) fn new(clock: usize, reference: usize) -> Self {
        Self { clock, reference, brackets: Vec::new(), every: 1, rounds: 0, failed: 0, errors: 0, error: None }
    }

    /// Takes so many brackets, and keeps the narrowest.
    pub(super) fn bracket<P: Platform>(&mut self, rated: &[RatedClock<'_, P>], count: usize) {
        let (clock, reference) = (&rated[self.clock], &rated[self.reference]);
        let fence = clock.fence.as_ref().or(reference.fence.as_ref());
        let (Ok(clock), Ok(reference)) = (&clock.row.sampler, &reference.row.sampler) else { return };
        let between = || fence.map(|timer| black_box(timer.now()));
        let (mut narrowest, mut errors): (Option<Bracket>, u64) = (None, 0);
        // Not the shared loop: a read that fails is counted, and the others go on.
        for _ in 0..count {
            let mut take = || {
                let before = reference.now()?;
                between();
                let inner = clock.now().inspect_err(|_| errors += 1)?;
                between();
                Ok(Bracket { before, inner, after: reference.now()? })
            };
            match take() {
                Ok(next) if narrowest.is_none_or(|best| next.width() < best.width()) => narrowest = Some(next),
                Ok(_) => {}
                Err(errno) => {
                    self.failed += 1;
                    self.error.get_or_insert(errno);
                }
            }
        }
        self.errors += errors;
        if let Some(bracket) = narrowest {
            self.keep(bracket, count);
        }
    }

    /// Keeps a bracket; those of the ends always.
    fn keep(&mut self, bracket: Bracket, count: usize) {
        self.rounds += 1;
        if !self.rounds.is_multiple_of(self.every) && count < BRACKETS_AT_ENDS {
            return;
        }
        if self.brackets.len() == MOST {
            self.every *= 2;
            let mut place = 0;
            self.brackets.retain(|_| {
                place += 1;
                place % 2 == 1
            });
        }
        self.brackets.push(bracket);
    }

    /// Brackets that are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.brackets.len()
    }

    /// Rate and bound so far, in ppm of the claimed scales, or of the rough ones.
    pub(super) fn bounds_ppm<P: Platform>(&self, rated: &[RatedClock<'_, P>]) -> Option<(f64, f64)> {
        let (clock, reference) = (&rated[self.clock], &rated[self.reference]);
        let clock_ns = clock.nominal_hz.map_or(clock.rough_ns, |hz| 1e9 / hz);
        let (brackets, ticks) = self.in_ns((clock, clock_ns), (reference, reference.rough_ns));
        rate_bounds(&brackets, ticks).map(|bounds| middle(bounds, [0.0; 2]))
    }

    /// The brackets since the first one, which is always kept, and the ticks: in ns, with units of so many ns.
    fn in_ns<P: Platform>(
        &self,
        (clock, clock_ns): (&RatedClock<'_, P>, f64),
        (reference, reference_ns): (&RatedClock<'_, P>, f64),
    ) -> (Vec<BracketNs>, Ticks) {
        let unit = Ticks { outer: reference_ns, inner: clock_ns };
        let since_first = |bracket| BracketNs::since(&self.brackets[0], bracket, unit);
        let ticks = Ticks { outer: reference.tick * reference_ns, inner: clock.tick * clock_ns };
        (self.brackets.iter().map(since_first).collect(), ticks)
    }

    /// What all brackets tell with the clock's unit of so many ns.
    fn rate<P: Platform>(
        &self,
        clock: &RatedClock<'_, P>,
        clock_ns: f64,
        reference: &RatedClock<'_, P>,
        scale: Scale,
    ) -> Option<Found> {
        let (brackets, ticks) = self.in_ns((clock, clock_ns), (reference, scale.ns_per_unit));
        let is_ticked = clock.is_ticked() || reference.is_ticked();
        Some(Found { rate: rate(&brackets, ticks)?, ticks, brackets, is_ticked })
    }

    /// The record of the clock, and how its unit becomes ns from now on.
    pub(super) fn record<P: Platform>(
        &self,
        clock: &RatedClock<'_, P>,
        reference: &RatedClock<'_, P>,
        scale: Scale,
        until_ppm: Option<f64>,
    ) -> (RateRecord, Option<Scale>) {
        let mut record = RateRecord {
            name: clock.label.clone(),
            reference: reference.label.clone(),
            available: true,
            errors: self.errors,
            reason: self.error.map(|errno| format!("{} reads failed; the first: {errno}", self.failed)),
            ..RateRecord::default()
        };
        // A counter of no nominal frequency counts at that which is found: it is looked for first.
        let nominal_ns = clock.nominal_hz.map(|hz| 1e9 / hz);
        let rough_ns = nominal_ns.unwrap_or(clock.rough_ns);
        let Some(rough) = self.rate(clock, rough_ns, reference, scale) else {
            explain(&mut record, TOO_FEW, until_ppm);
            return (record, None);
        };
        let (ppm, bound_ppm) = middle([rough.rate.least, rough.rate.most], [0.0, scale.error]);
        let own = if clock.counts_ticks {
            // Every counted unit that the reference saw in a second.
            let hz = 1e9 / rough_ns * (1.0 + ppm / PPM);
            record.frequency_hz = Some(hz);
            record.frequency_bound_hz = Some(1e9 / rough_ns * bound_ppm / PPM);
            record.nominal_hz = clock.nominal_hz;
            let found = Scale { ns_per_unit: 1e9 / hz, error: of_inverse(bound_ppm / PPM / (1.0 + ppm / PPM)) };
            let forward = (hz > 0.0 && found.error.is_finite()).then_some(found);
            nominal_ns.map_or(forward, |ns_per_unit| Some(Scale { ns_per_unit, error: 0.0 }))
        } else {
            Some(Scale { ns_per_unit: 1.0, error: 0.0 })
        };
        if !clock.counts_ticks || nominal_ns.is_some() {
            (record.ppm, record.bound_ppm) = (Some(ppm), Some(bound_ppm));
            record.estimate_ppm = rough.rate.least_squares.map(|slope| slope * PPM);
        } else {
            record.bound_ppm = Some(bound_ppm);
        }
        // The mean rate of a counter that stepped is the length of none of its units.
        let own_ns = own.filter(|_| rough.rate.step.is_none()).map_or(rough_ns, |own| own.ns_per_unit);
        let found = self.rate(clock, own_ns, reference, scale).unwrap_or(rough);
        fill(&mut record, &found);
        if found.is_ticked {
            record.reason.get_or_insert_with(|| TICKED.to_owned());
        }
        record.needed_s = until_ppm.zip(record.seconds).map(|(until, seconds)| seconds * (bound_ppm / until));
        explain(&mut record, "not determined", until_ppm);
        (record, own)
    }

    /// The record of the pair, with these scales of the clock and of the other.
    pub(super) fn pair<P: Platform>(&self, rated: &[RatedClock<'_, P>], scales: [Option<Scale>; 2]) -> RatePair {
        let (clock, other) = (&rated[self.clock], &rated[self.reference]);
        let found = scales[0].zip(scales[1]).and_then(|(clock_scale, other_scale)| {
            let found = self.rate(clock, clock_scale.ns_per_unit, other, other_scale)?;
            let errors = [clock_scale.error, other_scale.error];
            Some((middle([found.rate.least, found.rate.most], errors), found.is_constant()))
        });
        RatePair {
            a: clock.label.clone(),
            b: other.label.clone(),
            ppm: found.map(|((ppm, _), _)| ppm),
            bound_ppm: found.map(|((_, bound), _)| bound),
            constant: found.and_then(|(_, constant)| constant),
            reason: match found {
                None if scales.contains(&None) => Some(NO_SCALE.to_owned()),
                None => Some(TOO_FEW.to_owned()),
                Some((_, None)) => Some(if self.is_ticked(rated) { TICKED } else { FEW }.to_owned()),
                Some(_) => None,
            },
        }
    }

    fn is_ticked<P: Platform>(&self, rated: &[RatedClock<'_, P>]) -> bool {
        rated[self.clock].is_ticked() || rated[self.reference].is_ticked()
    }
}

/// What brackets told, and they themselves, in ns.
struct Found {
    rate: Rate,
    ticks: Ticks,
    brackets: Vec<BracketNs>,
    /// One of the clocks is moved by the timer tick, which may come late: its steps say nothing.
    is_ticked: bool,
}

impl Found {
    /// Whether one rate explains all brackets.
    fn is_constant(&self) -> Option<bool> {
        match self.rate.constancy {
            _ if self.is_ticked => None,
            Constancy::Constant => Some(true),
            Constancy::Changed { .. } => Some(false),
            Constancy::Untested => None,
        }
    }
}

fn fill(record: &mut RateRecord, found: &Found) {
    let Found { rate, ticks, brackets, is_ticked } = found;
    record.seconds = Some(rate.between / 1e9);
    (record.brackets_kept, record.brackets_dropped) = (rate.kept as u64, rate.dropped as u64);
    record.bracket_ns = Some(rate.width);
    record.ticks_ns = Some(ticks.inner + ticks.outer);
    let since_first = |ns: f64| (ns - brackets[0].before) / 1e9;
    record.constant = found.is_constant();
    if let (Some(false), Constancy::Changed { from, until }) = (record.constant, rate.constancy) {
        record.changed = Some(Changed { from_s: since_first(from), until_s: since_first(until) });
    }
    record.step = rate.step.filter(|_| !is_ticked).map(|(at, ns)| Step { at_s: since_first(at), ns });
    if let Some((spacing, phases)) = even_phases(brackets) {
        let in_s = |tau: f64| tau / 1e9;
        let allan = allan_deviation(&phases, spacing);
        record.allan = allan.into_iter().map(|found| Allan { tau_s: in_s(found.tau), adev: found.value }).collect();
        let mtie = maximum_time_interval_error(&phases, spacing);
        record.mtie = mtie.into_iter().map(|found| Mtie { tau_s: in_s(found.tau), ns: found.value }).collect();
    }
}
