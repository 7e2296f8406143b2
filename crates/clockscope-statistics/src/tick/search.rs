//! The search for a lattice among the lines of the spectrum.

use std::ops::ControlFlow;

use clockscope_records::TickReason;

use super::lattice::{self, CERTAIN_BLOCK_SHARE, Fit, StepProfile};
use super::proof::{self, Counts};
use super::readings::TickReadings;
use super::result::{Lattice, MIN_PERIOD_UNITS, Tick};
use super::spectrum;

/// Lines whose lattice is fitted to a sample of the readings, and how many of each quarter that
/// takes.
const MAX_FITS: usize = 128;
const SAMPLE_READINGS: usize = 2048;
/// Additional share of the blocks that must lie on a lattice to be preferred to a longer one. All
/// parts of a lattice fit as well as it does.
const MIN_AGREEMENT_GAIN: f64 = 0.1;
/// By what share of a period two are the same.
const MAX_SAME_PERIOD_DIFFERENCE_SHARE: f64 = 0.02;
/// A period that may be off by a larger share is unknown: readings at whole units lie on many such
/// lattices.
const MAX_PERIOD_ERROR_SHARE: f64 = 2e-4;
/// Steps of a series that is long enough to refute every lattice but its own.
pub(super) const MIN_CONCLUSIVE_STEPS: usize = 4096;
/// A read of more ticks than this lies on lattices near by, however long the series is.
const MAX_UNAMBIGUOUS_READ_TICKS: f64 = 16.0;

/// A search, with what was found so far.
pub(super) struct Search<'a> {
    values: &'a [u64],
    steps: &'a [u64],
    repeats: u64,
    breaks: u64,
    profile: StepProfile,
    counts: Counts,
    fits: usize,
    /// The best lattice, and how many lines were looked at until then.
    best: Option<(Lattice, usize)>,
    /// Some readings lie on a lattice for certain, others do not.
    changing: bool,
    /// Something looked like a lattice at first.
    has_candidate: bool,
    /// Something did that may be the read's own cost.
    unproved: bool,
    /// Periods of these. What lies on a lattice lies on all of its parts, too.
    rejected_periods: Vec<f64>,
}

impl<'a> Search<'a> {
    /// A search in readings, whose steps are not empty.
    pub(super) fn new(readings: &'a TickReadings, steps: &'a [u64]) -> Self {
        Self {
            values: &readings.values,
            steps,
            repeats: readings.repeats,
            breaks: readings.breaks,
            profile: StepProfile::from_steps(steps),
            counts: proof::counts(steps.iter().copied()),
            fits: 0,
            best: None,
            changing: false,
            has_candidate: false,
            unproved: false,
            rejected_periods: Vec::new(),
        }
    }

    /// Looks at one line after the other, that of the longest period first.
    pub(super) fn run(mut self) -> Tick {
        let Some(lines) = spectrum::candidates(self.steps, self.profile.usual) else {
            return Tick::Unknown(TickReason::SlowReads);
        };
        for (index, line) in lines.iter().enumerate() {
            let Some(frequency) = lattice::refined_by_first(self.values, self.profile, *line) else { continue };
            if self.try_frequency(frequency, index + 1).is_break() {
                break;
            }
        }
        match self.conclude() {
            Tick::Found(lattice) if self.breaks > 0 && lattice.error > MAX_PERIOD_ERROR_SHARE => {
                Tick::Unknown(TickReason::StepsBack)
            }
            Tick::Found(lattice)
                if lattice.error > MAX_PERIOD_ERROR_SHARE
                    || self.is_short() && lattice.agreement < CERTAIN_BLOCK_SHARE =>
            {
                Tick::Unknown(TickReason::FewDifferences)
            }
            Tick::Found(lattice) if self.may_be_ambiguous(&lattice) && self.has_alternative(&lattice, &lines) => {
                Tick::Unknown(TickReason::SeveralTicks)
            }
            reported => reported,
        }
    }

    /// Length of the readings in all, in units, without interruptions.
    fn quiet(&self) -> f64 {
        self.steps.iter().filter(|step| !self.profile.is_interruption(**step)).sum::<u64>() as f64
    }

    /// Returns true if the readings are so few that they may lie on a lattice that is not theirs.
    fn is_short(&self) -> bool {
        self.steps.len() < MIN_CONCLUSIVE_STEPS
    }

    /// Returns true if the readings may lie on another lattice, too: few do, and those of slow
    /// reads. Of a block of these a few reads take a tick more than the others, which moves them
    /// against a lattice of n - 1 ticks by a few n-th of a tick only.
    fn may_be_ambiguous(&self, lattice: &Lattice) -> bool {
        self.is_short() || self.profile.usual as f64 > MAX_UNAMBIGUOUS_READ_TICKS * lattice.period
    }

    /// Returns true if the readings lie on another line's lattice as well, which is neither a part
    /// of this one nor the other way round. Where a read takes n ticks, plus or minus a few, so few
    /// readings may lie on a lattice of n - 1 or n + 1 ticks in the same time.
    fn has_alternative(&self, found: &Lattice, lines: &[f64]) -> bool {
        // Neighboring lattices differ by one tick in a read.
        let same = MAX_SAME_PERIOD_DIFFERENCE_SHARE.min(found.period / (4.0 * self.profile.usual as f64));
        lines.iter().any(|line| {
            let Some(frequency) = lattice::refined_by_first(self.values, self.profile, *line) else { return false };
            if are_alike(1.0 / frequency, found.period, same) || 1.0 / frequency < MIN_PERIOD_UNITS {
                return false;
            }
            match lattice::fit(self.values, self.profile, frequency, usize::MAX) {
                Fit::On(other) => {
                    other.agreement >= found.agreement - MIN_AGREEMENT_GAIN
                        && !are_alike(other.period, found.period, same)
                }
                Fit::Changing | Fit::Nowhere => false,
            }
        })
    }

    /// Looks at a frequency that the first readings agree with, the n-th that was tried.
    fn try_frequency(&mut self, frequency: f64, tried: usize) -> ControlFlow<()> {
        let period = 1.0 / frequency;
        if period < MIN_PERIOD_UNITS {
            return ControlFlow::Break(());
        }
        if self.rejected_periods.iter().any(|longer| is_part(period, *longer, MAX_SAME_PERIOD_DIFFERENCE_SHARE)) {
            return ControlFlow::Continue(());
        }
        self.has_candidate = true;
        // Cheaper than the fit, and true of any lattice that could be proved.
        if !proof::is_diverse(self.repeats, &self.counts, period) {
            self.unproved = true;
            return ControlFlow::Continue(());
        }
        self.fits += 1;
        if self.fits > MAX_FITS {
            return ControlFlow::Break(());
        }
        match lattice::fit(self.values, self.profile, frequency, SAMPLE_READINGS) {
            Fit::Nowhere => {}
            Fit::Changing => {
                self.changing = true;
                self.rejected_periods.push(period);
            }
            Fit::On(lattice) if !self.is_proved(&lattice, tried) => {
                self.unproved = true;
                self.rejected_periods.push(lattice.period);
            }
            Fit::On(lattice) => {
                // Where costs hardly vary, other lines fit many short blocks by halves.
                if self.best.is_none_or(|(best, _)| lattice.agreement > best.agreement + MIN_AGREEMENT_GAIN) {
                    self.best = Some((lattice, tried));
                }
                if lattice.agreement >= CERTAIN_BLOCK_SHARE {
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    fn is_proved(&self, lattice: &Lattice, tried: usize) -> bool {
        proof::is_proved(self.values, self.profile, self.repeats, lattice, tried)
    }

    /// Returns true if the readings prove that no tick is longer than [`MIN_PERIOD_UNITS`]. Where
    /// some of them looked like a lattice, only those that are far apart can.
    fn is_fine(&self) -> bool {
        !self.has_candidate && proof::is_fine(self.repeats, self.steps)
            || proof::is_fine_across(self.values, self.profile.usual)
    }

    /// Concludes from what the lines showed, the best of them looked at once more by all readings.
    fn conclude(&mut self) -> Tick {
        if let Some((lattice, tried)) =
            self.best.filter(|(best, _)| !self.changing || best.agreement >= CERTAIN_BLOCK_SHARE)
        {
            match lattice::fit(self.values, self.profile, 1.0 / lattice.period, usize::MAX) {
                Fit::On(lattice) => {
                    let widest =
                        lattice::widest(self.values, self.profile, lattice, |wider| self.is_proved(wider, tried));
                    let moved = self.breaks as f64 * widest.period / 2.0 / self.quiet();
                    return Tick::Found(Lattice { error: widest.error + moved, ..widest });
                }
                Fit::Changing | Fit::Nowhere => self.changing = true,
            }
        }
        match (self.changing, self.unproved) {
            (true, _) => Tick::Unknown(TickReason::RateChanged),
            _ if self.is_fine() => Tick::AtMost { units: MIN_PERIOD_UNITS, steps: self.steps.len() as u64 },
            (_, true) => Tick::Unknown(TickReason::ConstantCost),
            _ if self.has_candidate => Tick::Unknown(TickReason::NoLattice),
            _ => Tick::Unknown(TickReason::NoneShown),
        }
    }
}

/// Returns true if one of these periods is a whole number of the other, plus or minus a share of
/// the shorter one.
fn are_alike(one: f64, other: f64, slack: f64) -> bool {
    is_part(one, other, slack) || is_part(other, one, slack)
}

/// Returns true if the longer period is a whole number of the shorter one, plus or minus a share of
/// the shorter one.
fn is_part(shorter: f64, longer: f64, slack: f64) -> bool {
    let ratio = longer / shorter;
    ratio.round() >= 1.0 && (ratio - ratio.round()).abs() < slack
}
