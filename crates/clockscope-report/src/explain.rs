//! Words beside the data of a document, for people who read its JSON.

use clockscope_records::{Document, LeftOut, Measurement};

use crate::{
    evidence, holder, kernel_verdict, lost_time, performance_counter, recommendation, shootout, surprise, tick,
};

/// Puts all words of a document beside its data.
pub(crate) fn explain(document: &mut Document) {
    match document {
        Document::Check(answer) => evidence::explain(&mut answer.found),
        Document::Shootout(answer) => shootout::explain(&mut answer.found),
        Document::Clocksources(answer) => {
            kernel_verdict::explain(&mut answer.found.counter);
            holder::explain(&mut answer.found);
            performance_counter::explain(&mut answer.found);
        }
        Document::Measurement(answer) => measurement(&mut answer.found),
        Document::Switched(answer) => {
            answer.found.measurements.iter_mut().for_each(|part| measurement(&mut part.found));
        }
        Document::Steps(answer) => {
            let evidence = answer.found.clocks.iter_mut().filter_map(|clock| clock.tick_evidence.as_mut());
            evidence.for_each(tick::explain);
        }
        Document::Runtimes(answer) => {
            let evidence = answer.found.runtimes.iter_mut().filter_map(|row| row.tick_evidence.as_mut());
            evidence.for_each(tick::explain);
            answer.found.surprises.iter_mut().for_each(surprise::explain);
        }
        Document::Advice(answer) => {
            let words = |clock: &mut LeftOut| clock.reason = Some(clock.cause.to_string());
            answer.found.left_out.iter_mut().for_each(words);
        }
        Document::Gaps(answer) => lost_time::explain(&mut answer.found),
        Document::Rates(_)
        | Document::Sleep(_)
        | Document::Order(_)
        | Document::Offsets(_)
        | Document::Comparison(_)
        | Document::RuntimesFound(_)
        | Document::Listing(_)
        | Document::AllClocks(_)
        | Document::Info(_) => {}
    }
}

fn measurement(found: &mut Measurement) {
    recommendation::explain(&mut found.advice);
    found.clocks.iter_mut().filter_map(|clock| clock.tick_evidence.as_mut()).for_each(tick::explain);
}
