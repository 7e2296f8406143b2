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
    Advice, AdviceRow, ClockRecord, Envelope, Environment, Figure, ForShorter, LeftOut, LeftOutCause, Recommendation,
    Unknown, texts,
};

pub use candidates::AdviceInput;
use candidates::{ClockFigures, Weighed, weigh};
use clockscope_records::units::rounded_up;
use scale::RateStatements;

/// Intervals that are advised on if none is asked for, in ns: 1 ns to 1 s.
const INTERVALS: [f64; 10] = [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
/// The reading error that the recommendation of a measurement accepts: the default of `advise`.
const USUAL_ERROR: f64 = 0.01;
/// Reading errors whose ratio is less are the same: they save less than a fifth of the repetitions,
/// and differ by as much from run to run. Of those clocks the one that programs know best is named.
const SAME_ERROR: f64 = 1.25;
/// Clocks that a reason may name.
const FEW_CLOCKS: usize = 4;
/// The most that Linux corrects a frequency by, as a share: MAXFREQ of linux/timex.h.
const LINUX_TOLERANCE: f64 = 500e-6;

/// Advises on an interval of so many ns, or on 1 ns to 1 s, with a reading error of at most `error`
/// (positive).
#[must_use]
pub fn advise(source: AdviceInput<'_>, error: f64, interval_ns: Option<f64>) -> Envelope<Advice> {
    let environment = source.environment();
    let (mut weighed, left_out) = weigh(source.clocks(), environment);
    let statements = source.rate_statements();
    let intervals = interval_ns.map_or_else(|| INTERVALS.to_vec(), |interval_ns| vec![interval_ns]);
    let rows = match why_no_advice(&weighed, &left_out, environment) {
        Some(reason) => Figure::unknown(reason),
        None => {
            let row = |interval_ns: f64| row(&weighed, &statements, interval_ns, error);
            Figure::of(intervals.into_iter().map(row).collect(), texts::NOTHING_FIT)
        }
    };
    weighed.sort_by(|a, b| a.error_ns().total_cmp(&b.error_ns()));
    let clocks = weighed.into_iter().map(|weighed| weighed.candidate).collect();
    let is_linux = environment.kernel.name.as_deref().is_some_and(|name| name == "Linux");
    let scale_tolerance = is_linux.then_some(LINUX_TOLERANCE);
    let recorded_at = source.recorded_at().map(str::to_owned);
    Envelope::of_facts(recorded_at, environment.clone(), Advice { error, rows, scale_tolerance, clocks, left_out })
}

/// Recommends a clock for intervals by the same rule, with what to expect of it. Across CPUs
/// nothing was tested.
pub(crate) fn recommend(clocks: &[ClockRecord], environment: &Environment) -> Recommendation {
    let (weighed, left_out) = weigh(clocks.iter().map(ClockFigures::of_record).collect(), environment);
    let reason = why_no_advice(&weighed, &left_out, environment);
    let chosen = choose(&weighed, f64::INFINITY, USUAL_ERROR).zip(choose(&weighed, 0.0, USUAL_ERROR));
    let Some((chosen, finest)) = chosen.filter(|_| reason.is_none()) else {
        let clock = Figure::unknown(reason.unwrap_or(texts::NOTHING_FIT.into()));
        return Recommendation { error: USUAL_ERROR, clock, ..Recommendation::default() };
    };
    let is_other = finest.candidate.clock != chosen.candidate.clock;
    Recommendation {
        error: USUAL_ERROR,
        clock: Figure::Known(chosen.candidate.clock.clone()),
        interval_ns: Some(rounded_up(chosen.error_ns() / USUAL_ERROR, 3)),
        reading_error_ns: Some(chosen.error_ns()),
        cost_ns: Some(chosen.candidate.cost_ns),
        reads: Some(chosen.reads),
        shorter: is_other
            .then(|| ForShorter { clock: finest.candidate.clock.clone(), reading_error_ns: finest.error_ns() }),
    }
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
    let (Some(first), ..=FEW_CLOCKS) = (left_out.first(), left_out.len()) else {
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

/// Chooses the clock for intervals of this length: the system's usual one where a single
/// measurement by it is good enough, else the one with the smallest reading error. Of those whose
/// errors are the same that is the usual one, then the library's, then the first. The library's may
/// be worse by a tick of the best, which observed errors differ by from run to run: a counter's
/// readings have to be converted, and the library's are.
fn choose<'a>(weighed: &'a [Weighed<'a>], interval_ns: f64, error: f64) -> Option<&'a Weighed<'a>> {
    let usual = weighed.iter().find(|clock| clock.is_usual());
    let best = weighed.iter().min_by(|a, b| a.error_ns().total_cmp(&b.error_ns()))?;
    let same_ns = best.error_ns() * SAME_ERROR;
    let below = |most_ns: f64| move |clock: &&Weighed<'_>| clock.error_ns() <= most_ns;
    usual
        .filter(below((error * interval_ns).max(same_ns)))
        .or_else(|| weighed.iter().filter(below(same_ns + best.candidate.tick_ns)).find(|clock| clock.is_librarys()))
        .or_else(|| weighed.iter().find(below(same_ns)))
}

fn row(weighed: &[Weighed<'_>], statements: &RateStatements<'_>, interval_ns: f64, error: f64) -> Option<AdviceRow> {
    let chosen = choose(weighed, interval_ns, error)?;
    let sufficient = weighed.iter().filter(|clock| clock.error_ns() <= error * interval_ns);
    let cheapest = sufficient.min_by(|a, b| a.candidate.cost_ns.total_cmp(&b.candidate.cost_ns));
    let repetitions = |error_ns: f64| (error_ns / interval_ns / error).ceil().max(1.0) as u64;
    let (scale_error, scale_source) = statements.scale_error(chosen.identity);
    Some(AdviceRow {
        interval_ns,
        clock: chosen.candidate.clock.clone(),
        reading_error: chosen.error_ns() / interval_ns,
        scale_error,
        scale_source,
        repetitions: repetitions(chosen.error_ns()),
        repetitions_subtracted: repetitions(chosen.candidate.subtracted_error_ns()),
        cheapest_sufficient: cheapest.map(|clock| clock.candidate.clock.clone()),
    })
}

#[cfg(test)]
mod tests;
