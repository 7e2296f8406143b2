//! One clock against another: their brackets, and what these show.

use clockscope_core::brackets::{Bracket, Ticks};
use clockscope_records::{Changed, Figure, RatePair, RateReason, RateRecord, Step, Unknown, texts};
use clockscope_statistics::{
    BracketNs, Constancy, MeasuredRate, allan_deviation, even_phases, maximum_time_interval_error, rate, rate_bounds,
};
use clockscope_system::Errno;
use clockscope_system::failure::system_error;

use super::error::{middle, of_inverse};
use super::participant::{Participant, Scale};
use crate::instrument::bracket::{BracketError, bracket};
use crate::platform::Platform;

/// Brackets of a pair at both ends, from which the bound follows.
pub(super) const BRACKETS_AT_ENDS: usize = 200;

/// Most brackets that are kept; more are thinned out.
const MAX_BRACKETS: usize = 4096;
/// Largest share by which the mean length of a counter's unit differs from that at the beginning.
/// No sound counter changes its rate as much.
const MAX_UNIT_CHANGE: f64 = 1e-3;
/// Parts per million of 1.
const PPM: f64 = 1e6;

/// The brackets of one pair: the clock is read between two readings of the reference.
pub(super) struct Comparison {
    pub(super) clock: usize,
    pub(super) reference: usize,
    brackets: Vec<Bracket>,
    /// Number of rounds of which one is kept.
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

    /// Takes `count` brackets, and keeps the narrowest.
    pub(super) fn bracket<P: Platform>(&mut self, participants: &[Participant<'_, P>], count: usize) {
        let (clock, reference) = (&participants[self.clock], &participants[self.reference]);
        let fence = clock.fence.as_ref().or(reference.fence.as_ref());
        let (Ok(clock), Ok(reference)) = (&clock.row.sampler, &reference.row.sampler) else { return };
        let mut narrowest: Option<Bracket> = None;
        // Not the shared loop: a read that fails is counted, and the others go on.
        for _ in 0..count {
            match bracket(&**reference, &**clock, fence) {
                Ok(next) if narrowest.is_none_or(|best| next.width() < best.width()) => narrowest = Some(next),
                Ok(_) => {}
                Err(error) => {
                    self.failed += 1;
                    self.errors += u64::from(matches!(error, BracketError::Inner(_)));
                    self.error.get_or_insert(error.errno());
                }
            }
        }
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
        if self.brackets.len() == MAX_BRACKETS {
            self.every *= 2;
            let mut index = 0;
            self.brackets.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
        self.brackets.push(bracket);
    }

    /// Brackets that are kept.
    #[cfg(test)]
    pub(super) fn bracket_count(&self) -> usize {
        self.brackets.len()
    }

    /// Rate and bound so far, in ppm of the nominal scales, or of the rough ones, where the
    /// reference's may be off by this share.
    pub(super) fn bounds_ppm<P: Platform>(
        &self,
        participants: &[Participant<'_, P>],
        error: f64,
    ) -> Option<(f64, f64)> {
        let (clock, reference) = (&participants[self.clock], &participants[self.reference]);
        let clock_ns = clock.nominal_hz.map_or(clock.rough_ns, |hz| 1e9 / hz);
        let (brackets, ticks) = self.in_ns((clock, clock_ns), (reference, reference.rough_ns));
        rate_bounds(&brackets, ticks).map(|bounds| middle(bounds, [0.0, error]))
    }

    /// The brackets since the first one, which is always kept, and the ticks: in ns, with units of
    /// `clock_ns` and `reference_ns`.
    fn in_ns<P: Platform>(
        &self,
        (clock, clock_ns): (&Participant<'_, P>, f64),
        (reference, reference_ns): (&Participant<'_, P>, f64),
    ) -> (Vec<BracketNs>, Ticks) {
        let unit = Ticks { outer: reference_ns, inner: clock_ns };
        let brackets = self.brackets.iter().map(|bracket| BracketNs::since(&self.brackets[0], bracket, unit));
        let ticks = Ticks { outer: reference.tick * reference_ns, inner: clock.tick * clock_ns };
        (brackets.collect(), ticks)
    }

    /// Rate that all brackets show with the clock's unit of `clock_ns`.
    fn rate<P: Platform>(
        &self,
        clock: &Participant<'_, P>,
        clock_ns: f64,
        reference: &Participant<'_, P>,
        scale: Scale,
    ) -> Option<RateEstimate> {
        let (brackets, ticks) = self.in_ns((clock, clock_ns), (reference, scale.ns_per_unit));
        let is_ticked = clock.is_ticked() || reference.is_ticked();
        Some(RateEstimate { rate: rate(&brackets, ticks)?, ticks, brackets, is_ticked })
    }

    /// The record of the clock, and how its unit becomes ns from now on.
    pub(super) fn record<P: Platform>(
        &self,
        clock: &Participant<'_, P>,
        reference: &Participant<'_, P>,
        scale: Scale,
        until_ppm: Option<f64>,
    ) -> (RateRecord, Option<Scale>) {
        let failed =
            self.error.map(|errno| RateReason::ReadsFailed { failed: self.failed, error: system_error(errno) });
        let failures = failed.clone().map(Unknown::from);
        // A counter of no nominal frequency counts at that which is found: it is looked for first.
        let nominal_ns = clock.nominal_hz.map(|hz| 1e9 / hz);
        let rough_ns = nominal_ns.unwrap_or(clock.rough_ns);
        let Some(rough) = self.rate(clock, rough_ns, reference, scale) else {
            let unrated = clock.unrated(&reference.label, &RateReason::FewBrackets.into(), until_ppm);
            let failed = RateRecord { available: true, errors: self.errors, reason: failures, ..unrated };
            return (failed, None);
        };
        let (ppm, bound_ppm) = middle([rough.rate.least, rough.rate.most], [0.0, scale.error]);
        // Every counted unit that the reference saw in a second.
        let hz = 1e9 / rough_ns * (1.0 + ppm / PPM);
        let own = own_scale(clock.is_in_counts, nominal_ns, hz, bound_ppm / PPM / (1.0 + ppm / PPM));
        // The mean rate of a counter that stepped, or stood still for a part of the run, is the
        // length of none of its units.
        let unit =
            own.filter(|own| rough.rate.step.is_none() && (own.ns_per_unit / rough_ns - 1.0).abs() < MAX_UNIT_CHANGE);
        let own_ns = unit.map_or(rough_ns, |unit| unit.ns_per_unit);
        let least_squares = rough.rate.least_squares;
        let found = self.rate(clock, own_ns, reference, scale).unwrap_or(rough);
        let untested: Unknown = failed.unwrap_or_else(|| found.untested()).into();
        let seconds = found.rate.between / 1e9;
        let counts = clock.is_in_counts.then_some(()).ok_or(texts::SHOWS_TIME);
        let nominal = clock.nominal_hz.ok_or("neither hardware nor hypervisor states a frequency to compare it with");
        let comparable = if clock.is_in_counts { nominal.map(|_| ()) } else { Ok(()) };
        let record = RateRecord {
            name: clock.label.clone(),
            reference: reference.label.clone(),
            available: true,
            errors: self.errors,
            unchanged_ns: Figure::unknown("it stepped"),
            ppm: comparable.map(|()| ppm).into(),
            bound_ppm: Figure::Known(bound_ppm),
            estimate_ppm: comparable
                .map_err(Unknown::from)
                .and_then(|()| least_squares.ok_or_else(|| RateReason::BracketsInterrupted.into()))
                .map(|slope| slope * PPM)
                .into(),
            frequency_hz: counts.map(|()| hz).into(),
            frequency_bound_hz: counts.map(|()| 1e9 / rough_ns * bound_ppm / PPM).into(),
            nominal_hz: counts.and(nominal).into(),
            seconds: Figure::Known(seconds),
            needed_s: Figure::of(until_ppm.map(|until| seconds * (bound_ppm / until)), texts::NO_BOUND),
            ..found.record(&untested)
        };
        let record = RateRecord { reason: failures, ..record };
        (RateRecord { reason: record.limit(), ..record }, own)
    }

    /// The record of the pair, with these scales of the clock and of the other.
    pub(super) fn pair<P: Platform>(
        &self,
        participants: &[Participant<'_, P>],
        scales: [Option<Scale>; 2],
    ) -> RatePair {
        let (clock, other) = (&participants[self.clock], &participants[self.reference]);
        let scales = scales[0].zip(scales[1]).ok_or(RateReason::NoUnit);
        let found = scales.and_then(|(clock_scale, other_scale)| {
            let found = self.rate(clock, clock_scale.ns_per_unit, other, other_scale);
            Ok((found.ok_or(RateReason::FewBrackets)?, [clock_scale.error, other_scale.error]))
        });
        let rate = found.as_ref().map(|(found, errors)| middle([found.rate.least, found.rate.most], *errors));
        let rate = rate.map_err(RateReason::clone);
        RatePair {
            a: clock.label.clone(),
            b: other.label.clone(),
            ppm: rate.clone().map(|(ppm, _)| ppm).into(),
            bound_ppm: rate.map(|(_, bound)| bound).into(),
            constant: found.and_then(|(found, _)| found.is_constant().ok_or_else(|| found.untested())).into(),
        }
    }
}

/// Rate and ticks that brackets showed, and the brackets, in ns.
struct RateEstimate {
    rate: MeasuredRate,
    ticks: Ticks,
    brackets: Vec<BracketNs>,
    /// One of the clocks is moved by the timer tick, which may come late: its steps say nothing.
    is_ticked: bool,
}

/// The length of a clock's unit by the rate that was found, which may be off by this share: a
/// nominal one is exact. `None` for a counter that did not advance.
fn own_scale(is_in_counts: bool, nominal_ns: Option<f64>, hz: f64, share: f64) -> Option<Scale> {
    if !is_in_counts {
        return Some(Scale { ns_per_unit: 1.0, error: 0.0 });
    }
    let found = Scale { ns_per_unit: 1e9 / hz, error: of_inverse(share) };
    let forward = (hz > 0.0 && found.error.is_finite()).then_some(found);
    nominal_ns.map_or(forward, |ns_per_unit| Some(Scale { ns_per_unit, error: 0.0 }))
}

impl RateEstimate {
    /// Returns true if one rate explains all brackets.
    fn is_constant(&self) -> Option<bool> {
        match self.rate.constancy {
            _ if self.is_ticked => None,
            Constancy::Constant => Some(true),
            Constancy::Changed { .. } => Some(false),
            Constancy::Untested => None,
        }
    }

    /// Returns why it is unknown whether one rate explains all brackets, where no read failed.
    fn untested(&self) -> RateReason {
        if self.is_ticked { RateReason::Ticked } else { RateReason::BracketsInterrupted }
    }

    /// The part of a record that says how the clock ran, and why constancy is not known where it is
    /// not.
    fn record(&self, untested: &Unknown) -> RateRecord {
        let RateEstimate { rate, ticks, brackets, is_ticked } = self;
        let start_ns = brackets[0].before;
        let is_constant = self.is_constant().ok_or_else(|| untested.clone());
        let changed = match (&is_constant, rate.constancy) {
            (Ok(false), Constancy::Changed { from, until }) => {
                Ok(Changed { from_s: (from - start_ns) / 1e9, until_s: (until - start_ns) / 1e9 })
            }
            (result, _) => {
                Err(result.clone().map_or_else(|untested| untested, |_| "one rate explains all brackets".into()))
            }
        };
        let step = rate.step.filter(|_| !is_ticked).map(|(at, ns)| Step { at_s: (at - start_ns) / 1e9, ns });
        let unstepped = is_constant.clone().map_or_else(|untested| untested, |_| "none was seen".into());
        let (spacing, phases) = even_phases(brackets).unwrap_or_default();
        RateRecord {
            brackets_used: rate.used as u64,
            brackets_dropped: rate.dropped as u64,
            bracket_ns: Figure::Known(rate.width),
            ticks_ns: Figure::Known(ticks.inner + ticks.outer),
            constant: is_constant.into(),
            changed: changed.into(),
            step: Figure::of(step, unstepped),
            allan: allan_deviation(&phases, spacing),
            mtie: maximum_time_interval_error(&phases, spacing),
            ..RateRecord::default()
        }
    }
}
