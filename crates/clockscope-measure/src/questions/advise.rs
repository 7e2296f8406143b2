//! The clock for intervals of each length, and how often to repeat what is measured, from what
//! was measured.
//!
//! Two errors of an interval, never merged. *Reading*: two reads overestimate the interval between
//! them by what they show with nothing between them, and are uncertain by the clock's tick and by
//! how much that overhead varies. The sum of the three bounds the error of nearly every single
//! measurement; n repetitions between the two reads divide it by n. *Scale*: the clock's rate, the
//! same share of every interval, which no repetition shrinks.

mod candidates;
mod scale;

use clockscope_records::{
    Advice, AdviceRow, ClockRecord, Envelope, Environment, Figure, Language, LeftOut, LeftOutCause, Recommendation,
    Unknown, Work, texts,
};

pub use candidates::{AdviceInput, LanguageReadings};
use candidates::{ClockFigures, Weighed, weigh};
use clockscope_records::units::rounded_up;
use scale::RateStatements;

/// Intervals that are advised on if none is asked for, in ns: 1 ns to 1 s.
const INTERVALS: [f64; 10] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// The reading error that the recommendation of a measurement accepts: the default of `advise`.
const DEFAULT_ERROR: f64 = 0.01;
/// The longest interval of a recommendation, in ns: an hour.
const MAX_INTERVAL_NS: f64 = 3.6e12;
/// Reading errors whose ratio is less are the same: they save less than a fifth of the repetitions,
/// and differ by as much from run to run. Of those clocks the one that programs know best is named.
const EQUAL_ERROR_RATIO: f64 = 1.25;
/// Clocks that a reason may name.
const MAX_NAMED_CLOCKS: usize = 4;
/// The most that Linux corrects a frequency by, as a share: MAXFREQ of linux/timex.h.
const LINUX_TOLERANCE: f64 = 500e-6;

/// Advises on an interval of `interval_ns`, or on 1 ns to 1 s, with a reading error of at most
/// `error` (positive) after this work.
#[must_use]
pub fn advise(source: AdviceInput<'_>, error: f64, interval_ns: Option<f64>, after: Work) -> Envelope<Advice> {
    let environment = source.environment();
    let (mut choice, left_out) = Choice::new(source.clocks(), environment, after, error);
    let statements = source.rate_statements();
    let intervals = interval_ns.map_or_else(|| INTERVALS.to_vec(), |interval_ns| vec![interval_ns]);
    let rows = match why_no_advice(&choice.weighed, &left_out, environment) {
        Some(reason) => Figure::unknown(reason),
        None if choice.after.is_none() && after != Work::Spin => {
            let remedy = source.language().map_or("`advise` without a record makes them", Language::after_work_remedy);
            Figure::unknown(format!("there are no measurements of {after}: {remedy}"))
        }
        None => {
            let rows = intervals.into_iter().map(|interval_ns| choice.row(&statements, interval_ns));
            Figure::of(rows.collect(), texts::NOTHING_FIT)
        }
    };
    choice.weighed.sort_by(|a, b| a.candidate.loop_error_ns().total_cmp(&b.candidate.loop_error_ns()));
    let Choice { weighed, after, .. } = choice;
    let clocks = weighed.into_iter().map(|weighed| weighed.candidate).collect();
    let is_linux = environment.kernel.name.as_deref().is_some_and(|name| name == "Linux");
    let scale_tolerance = is_linux.then_some(LINUX_TOLERANCE);
    let recorded_at = source.recorded_at().map(str::to_owned);
    let (language, language_version) = (source.language(), source.language_version());
    let advice = Advice { language, language_version, error, after, rows, scale_tolerance, clocks, left_out };
    Envelope::of_facts(recorded_at, environment.clone(), advice)
}

/// Recommends a clock for intervals by the same rule, with what to expect of it. Across CPUs
/// nothing was tested.
pub(crate) fn recommend(clocks: &[ClockRecord], environment: &Environment) -> Recommendation {
    let clocks = clocks.iter().map(ClockFigures::of_record).collect();
    let (choice, left_out) = Choice::new(clocks, environment, Work::Spin, DEFAULT_ERROR);
    let reason = why_no_advice(&choice.weighed, &left_out, environment);
    let (Some(chosen), Some(finest), None) = (choice.clock(MAX_INTERVAL_NS), choice.clock(0.0), &reason) else {
        let clock = Figure::unknown(reason.unwrap_or(texts::NOTHING_FIT.into()));
        return Recommendation { error: DEFAULT_ERROR, clock, ..Recommendation::default() };
    };
    let is_other = finest.candidate.clock != chosen.candidate.clock;
    let interval_ns = rounded_up(chosen.candidate.sufficient_from_ns(DEFAULT_ERROR, choice.after), 2);
    Recommendation {
        error: DEFAULT_ERROR,
        clock: Figure::Known(chosen.candidate.clock.clone()),
        interval_ns: Some(interval_ns),
        reading_error_ns: Some(choice.error_ns(chosen, interval_ns)),
        after: choice.after,
        cost_ns: Some(chosen.candidate.cost_ns),
        reads: Some(chosen.reads),
        shorter: is_other.then(|| finest.candidate.clock.clone()),
    }
}

/// Returns the names of the clocks that may be advised for some interval: the usual one, the
/// library's, and that with the smallest error of reads in a loop.
pub(crate) fn finalists(clocks: &[ClockRecord], environment: &Environment) -> Vec<String> {
    let (weighed, _) = weigh(clocks.iter().map(ClockFigures::of_record).collect(), environment);
    let known = weighed.iter().filter(|clock| clock.is_usual() || clock.is_librarys());
    let finest = weighed.iter().min_by(|a, b| a.candidate.loop_error_ns().total_cmp(&b.candidate.loop_error_ns()));
    known.chain(finest).map(|clock| clock.candidate.clock.clone()).collect()
}

/// Returns why no clock is advised; `None` where one is.
fn why_no_advice(weighed: &[Weighed<'_>], left_out: &[LeftOut], environment: &Environment) -> Option<Unknown> {
    match weighed {
        _ if !environment.emulation.is_empty() => Some(texts::EMULATED.into()),
        [] if left_out.iter().any(|clock| clock.cause == LeftOutCause::NoDifferences) => {
            Some(texts::DIFFERENCES_NOT_RECORDED.into())
        }
        [] if left_out.iter().any(|clock| clock.cause.is_of_figures()) => Some(texts::NOTHING_FIT.into()),
        [] => Some(why_nothing_suits(left_out)),
        [..] => None,
    }
}

/// Returns what all clocks that were left out have in common, if that is the same and they are few.
fn why_nothing_suits(left_out: &[LeftOut]) -> Unknown {
    let (Some(first), ..=MAX_NAMED_CLOCKS) = (left_out.first(), left_out.len()) else {
        return texts::NOTHING_MEASURED.into();
    };
    if left_out.iter().any(|clock| clock.cause != first.cause) {
        return texts::NOTHING_MEASURED.into();
    }
    let names: Vec<&str> = left_out.iter().map(|clock| clock.clock.as_str()).collect();
    let remedy = match first.cause {
        LeftOutCause::Unordered => "; `clockscope measure counter` measures an ordered one",
        _ => "",
    };
    format!("{}: {}{remedy}", names.join(", "), first.cause).into()
}

/// Clocks to choose from, and what decides.
struct Choice<'a> {
    weighed: Vec<Weighed<'a>>,
    /// The work that errors are those after; `None` for those of reads in a loop.
    after: Option<Work>,
    /// The error that is accepted, as a share of the interval.
    error: f64,
}

impl<'a> Choice<'a> {
    /// Weighs these clocks, by their errors after this work where there are any, and returns those
    /// that are left out.
    fn new(clocks: Vec<ClockFigures<'a>>, environment: &Environment, work: Work, error: f64) -> (Self, Vec<LeftOut>) {
        let (mut weighed, mut left_out) = weigh(clocks, environment);
        let is_after = weighed.iter().any(|clock| clock.candidate.after_work.iter().any(|after| after.work == work));
        if is_after {
            let others = weighed.extract_if(.., |clock| !clock.is_known_after(work));
            let cause = LeftOutCause::NotAfterWork;
            left_out.extend(others.map(|other| LeftOut { clock: other.candidate.clock, cause }));
        }
        (Self { weighed, after: is_after.then_some(work), error }, left_out)
    }

    fn error_ns(&self, clock: &Weighed<'_>, interval_ns: f64) -> f64 {
        clock.candidate.reading_error_ns(interval_ns, self.after)
    }

    /// Chooses the clock for intervals of this length: the system's usual one where a single
    /// measurement by it is good enough, else the one with the smallest reading error. Of those
    /// whose errors are the same that is the usual one, then the library's, then the first. The
    /// library's may be worse by a tick of the best, which observed errors differ by from run to
    /// run: a counter's readings have to be converted, and the library's are.
    fn clock(&self, interval_ns: f64) -> Option<&Weighed<'a>> {
        let errors: Vec<_> = self.weighed.iter().map(|clock| (self.error_ns(clock, interval_ns), clock)).collect();
        let (smallest_ns, best) = errors.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        let same_ns = smallest_ns * EQUAL_ERROR_RATIO;
        let usual = errors.iter().find(|(_, clock)| clock.is_usual());
        if let Some((error_ns, usual)) = usual
            && *error_ns <= (self.error * interval_ns).max(same_ns)
        {
            return Some(usual);
        }
        let librarys_ns = same_ns + best.candidate.tick_ns;
        let librarys = errors.iter().find(|(error_ns, clock)| *error_ns <= librarys_ns && clock.is_librarys());
        let first = errors.iter().find(|(error_ns, _)| *error_ns <= same_ns);
        librarys.or(first).map(|(_, clock)| *clock)
    }

    fn row(&self, statements: &RateStatements<'_>, interval_ns: f64) -> Option<AdviceRow> {
        let chosen = self.clock(interval_ns)?;
        let sufficient =
            self.weighed.iter().filter(|clock| self.error_ns(clock, interval_ns) <= self.error * interval_ns);
        let cheapest = sufficient.min_by(|a, b| a.candidate.cost_ns.total_cmp(&b.candidate.cost_ns));
        let (scale_error, scale_source) = statements.scale_error(chosen.identity);
        let reading_error = self.error_ns(chosen, interval_ns) / interval_ns;
        Some(AdviceRow {
            interval_ns,
            clock: chosen.candidate.clock.clone(),
            reading_error,
            after_work: chosen.candidate.after_work.clone(),
            scale_error,
            scale_source,
            repetitions: (reading_error / self.error).ceil().max(1.0) as u64,
            cheapest_sufficient: cheapest.map(|clock| clock.candidate.clock.clone()),
        })
    }
}

#[cfg(test)]
mod tests;
