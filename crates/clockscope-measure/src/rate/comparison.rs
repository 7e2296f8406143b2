//! One clock against another: their brackets, and what these tell.

use clockscope::Errno;
use clockscope_records::{Allan, Changed, Mtie, RateRecord, Step, Unknown};
use clockscope_statistics::{
    Bracket, Constancy, Rate, Ticks, allan_deviation, even_phases, maximum_time_interval_error, rate, rate_bounds,
};

use super::entrant::{Entrant, Scale};

/// Most brackets that are kept; more are thinned out.
const MOST: usize = 4096;
/// Parts per million of 1.
const PPM: f64 = 1e6;

/// The brackets of one pair, in units of each clock since the first reading.
pub(super) struct Comparison {
    pub(super) clock: usize,
    pub(super) reference: usize,
    origin: Option<Raw>,
    brackets: Vec<Bracket>,
    /// One of so many rounds is kept.
    every: usize,
    rounds: usize,
    failed: u64,
    error: Option<Errno>,
}

/// One bracket, as it was read.
#[derive(Clone, Copy)]
struct Raw {
    before: u64,
    clock: u64,
    after: u64,
}

impl Comparison {
    pub(super) fn new(clock: usize, reference: usize) -> Self {
        Self { clock, reference, origin: None, brackets: Vec::new(), every: 1, rounds: 0, failed: 0, error: None }
    }

    /// Takes so many brackets, and keeps the narrowest.
    pub(super) fn bracket(&mut self, entrants: &[Entrant<'_>], count: usize) {
        let (clock, reference) = (&entrants[self.clock], &entrants[self.reference]);
        let (Ok(clock), Ok(reference)) = (&clock.row.sampler, &reference.row.sampler) else { return };
        let mut narrowest: Option<Raw> = None;
        for _ in 0..count {
            let take = || Ok(Raw { before: reference.now()?, clock: clock.now()?, after: reference.now()? });
            match take() {
                Ok(raw) if narrowest.is_none_or(|narrowest| raw.width() < narrowest.width()) => narrowest = Some(raw),
                Ok(_) => {}
                Err(errno) => {
                    self.failed += 1;
                    self.error.get_or_insert(errno);
                }
            }
        }
        if let Some(raw) = narrowest {
            self.keep(raw, count);
        }
    }

    /// Keeps a bracket; those of the ends always.
    fn keep(&mut self, raw: Raw, count: usize) {
        let origin = *self.origin.get_or_insert(raw);
        self.rounds += 1;
        if !self.rounds.is_multiple_of(self.every) && count < super::BRACKETS_AT_ENDS {
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
        let since = |value: u64, origin: u64| value.wrapping_sub(origin) as i64 as f64;
        self.brackets.push(Bracket {
            before: since(raw.before, origin.before),
            clock: since(raw.clock, origin.clock),
            after: since(raw.after, origin.before),
        });
    }

    /// Brackets that are kept.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.brackets.len()
    }

    /// Rate and bound so far, in ppm of the rough scales.
    pub(super) fn bounds_ppm(&self, entrants: &[Entrant<'_>]) -> Option<(f64, f64)> {
        let (clock, reference) = (&entrants[self.clock], &entrants[self.reference]);
        let brackets = self.in_ns(clock.rough_ns, reference.rough_ns);
        let ticks = Ticks { clock: clock.tick * clock.rough_ns, reference: reference.tick * reference.rough_ns };
        rate_bounds(&brackets, ticks).map(|bounds| middle(bounds, 0.0))
    }

    fn in_ns(&self, clock_ns: f64, reference_ns: f64) -> Vec<Bracket> {
        let scaled = |bracket: &Bracket| Bracket {
            before: bracket.before * reference_ns,
            clock: bracket.clock * clock_ns,
            after: bracket.after * reference_ns,
        };
        self.brackets.iter().map(scaled).collect()
    }

    /// What all brackets tell with the clock's unit of so many ns.
    fn rate(&self, clock: &Entrant<'_>, clock_ns: f64, reference: &Entrant<'_>, scale: Scale) -> Option<Found> {
        let brackets = self.in_ns(clock_ns, scale.ns_per_unit);
        let ticks = Ticks { clock: clock.tick * clock_ns, reference: reference.tick * scale.ns_per_unit };
        Some(Found { rate: rate(&brackets, ticks)?, ticks, brackets })
    }

    /// The record of the clock, and how its unit becomes ns from now on.
    pub(super) fn record(
        &self,
        clock: &Entrant<'_>,
        reference: &Entrant<'_>,
        scale: Scale,
        until_ppm: Option<f64>,
    ) -> (RateRecord, Option<Scale>) {
        let mut record = RateRecord {
            name: clock.label.clone(),
            reference: reference.label.clone(),
            available: true,
            reason: self.error.map(|errno| format!("{} reads failed; the first: {errno}", self.failed)),
            ..RateRecord::default()
        };
        // A counter of no claimed frequency counts at that which is found: it is looked for first.
        let nominal_ns = clock.nominal_hz.map(|hz| 1e9 / hz);
        let rough_ns = nominal_ns.unwrap_or(clock.rough_ns);
        let Some(rough) = self.rate(clock, rough_ns, reference, scale) else {
            explain(&mut record, "it took too few brackets, or too little time passed between them", until_ppm);
            return (record, None);
        };
        let (ppm, bound_ppm) = middle([rough.rate.least, rough.rate.most], scale.error);
        let own = if clock.counts_ticks {
            // Every counted unit that the reference saw in a second.
            let hz = 1e9 / rough_ns * (1.0 + ppm / PPM);
            record.frequency_hz = Some(hz);
            record.frequency_bound_hz = Some(1e9 / rough_ns * bound_ppm / PPM);
            record.nominal_hz = clock.nominal_hz;
            let found = Scale { ns_per_unit: 1e9 / hz, error: bound_ppm / PPM };
            nominal_ns.map_or(found, |ns_per_unit| Scale { ns_per_unit, error: 0.0 })
        } else {
            Scale { ns_per_unit: 1.0, error: 0.0 }
        };
        if !clock.counts_ticks || nominal_ns.is_some() {
            (record.ppm, record.bound_ppm) = (Some(ppm), Some(bound_ppm));
            record.estimate_ppm = rough.rate.least_squares.map(|slope| slope * PPM);
        } else {
            record.bound_ppm = Some(bound_ppm);
        }
        let found = self.rate(clock, own.ns_per_unit, reference, scale).unwrap_or(rough);
        fill(&mut record, &found);
        record.needed_s = until_ppm.zip(record.seconds).map(|(until, seconds)| seconds * (bound_ppm / until));
        explain(&mut record, "not determined", until_ppm);
        (record, Some(own))
    }

    /// Rate and bound in ppm, with these scales of the clock and of the other.
    pub(super) fn scaled_ppm(&self, entrants: &[Entrant<'_>], scales: [Option<Scale>; 2]) -> Option<(f64, f64)> {
        let [clock, other] = [scales[0]?, scales[1]?];
        let found = self.rate(&entrants[self.clock], clock.ns_per_unit, &entrants[self.reference], other)?;
        Some(middle([found.rate.least, found.rate.most], clock.error + other.error))
    }
}

impl Raw {
    fn width(&self) -> u64 {
        self.after.wrapping_sub(self.before)
    }
}

/// What brackets told, and they themselves, in ns.
struct Found {
    rate: Rate,
    ticks: Ticks,
    brackets: Vec<Bracket>,
}

/// Middle and half of the width in ppm, where the scale may be off by a share.
fn middle([least, most]: [f64; 2], error: f64) -> (f64, f64) {
    (f64::midpoint(least, most) * PPM, ((most - least) / 2.0 + error) * PPM)
}

fn fill(record: &mut RateRecord, found: &Found) {
    let Found { rate, ticks, brackets } = found;
    record.seconds = Some(rate.between / 1e9);
    (record.brackets_kept, record.brackets_dropped) = (rate.kept as u64, rate.dropped as u64);
    record.bracket_ns = Some(rate.width);
    record.ticks_ns = Some(ticks.clock + ticks.reference);
    let since_first = |ns: f64| (ns - brackets[0].before) / 1e9;
    (record.constant, record.changed) = match rate.constancy {
        Constancy::Constant => (Some(true), None),
        Constancy::Changed { from, until } => {
            (Some(false), Some(Changed { from_s: since_first(from), until_s: since_first(until) }))
        }
        Constancy::Untested => (None, None),
    };
    record.step = rate.step.map(|(at, ns)| Step { at_s: since_first(at), ns });
    if let Some((spacing, phases)) = even_phases(brackets) {
        let in_s = |tau: f64| tau / 1e9;
        let allan = allan_deviation(&phases, spacing);
        record.allan = allan.into_iter().map(|found| Allan { tau_s: in_s(found.tau), adev: found.value }).collect();
        let mtie = maximum_time_interval_error(&phases, spacing);
        record.mtie = mtie.into_iter().map(|found| Mtie { tau_s: in_s(found.tau), ns: found.value }).collect();
    }
}

/// Says why each field is `null` that is.
pub(super) fn explain(record: &mut RateRecord, reason: &str, until_ppm: Option<f64>) {
    let is_counter = record.frequency_hz.is_some();
    let no_claim = "neither hardware nor hypervisor claim a frequency that it could be compared with";
    let reason_of_rate = if is_counter { no_claim } else { reason };
    let no_ticks = "it tells time, not ticks";
    let few = "fewer than three brackets were not interrupted";
    let reason_of_ticks = if record.available && record.ppm.is_some() { no_ticks } else { reason };
    let mut unknown = Unknown::new();
    let mut note = |field: &str, is_null: bool, reason: &str| {
        if is_null {
            unknown.insert(field.to_owned(), reason.to_owned());
        }
    };
    note("ppm", record.ppm.is_none(), reason_of_rate);
    note("bound_ppm", record.bound_ppm.is_none(), reason);
    note("estimate_ppm", record.estimate_ppm.is_none(), if record.ppm.is_some() { few } else { reason_of_rate });
    note("frequency_hz", record.frequency_hz.is_none(), reason_of_ticks);
    note("frequency_bound_hz", record.frequency_bound_hz.is_none(), reason_of_ticks);
    note("nominal_hz", record.nominal_hz.is_none(), if is_counter { no_claim } else { reason_of_ticks });
    for (field, is_null) in [
        ("seconds", record.seconds.is_none()),
        ("bracket_ns", record.bracket_ns.is_none()),
        ("ticks_ns", record.ticks_ns.is_none()),
    ] {
        note(field, is_null, reason);
    }
    let tested = record.constant.is_some();
    note("constant", !tested, if record.seconds.is_some() { few } else { reason });
    note("changed", record.changed.is_none(), if tested { "one rate explains all brackets" } else { reason });
    note("step", record.step.is_none(), if record.seconds.is_some() { "none was seen" } else { reason });
    let no_bound = if until_ppm.is_none() { "no bound was asked for" } else { reason };
    note("needed_s", record.needed_s.is_none(), no_bound);
    record.unknown = unknown;
}
