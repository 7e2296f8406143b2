//! QueryPerformanceCounter of Windows: its frequency, and what the system shows of the way by which
//! programs read it. `os/windows/facts.rs` has the calls.

use clockscope_records::{Figure, PerformanceCounter, texts};

use crate::counter_facts::CounterFacts;
use crate::os::facts;

/// Returns the facts of QueryPerformanceCounter; `None` on other systems than Windows.
/// `counter_hz` is the frequency of the processor's counter, measured, or why it is unknown.
#[must_use]
pub fn read(counter_hz: &Figure<f64>) -> Option<PerformanceCounter> {
    facts::performance_counter().map(|counter_facts| recorded(counter_facts, counter_hz))
}

/// Record of what the system shows.
#[cfg_attr(not(any(windows, test)), allow(dead_code, reason = "only Windows has this counter"))]
fn recorded(counter_facts: CounterFacts, counter_hz: &Figure<f64>) -> PerformanceCounter {
    let CounterFacts { frequency_hz, bypass_flags, bypass_shift, enters_kernel } = counter_facts;
    let counter_counts = frequency_hz.clone().result().and_then(|hz| {
        let counter = counter_hz.clone().result()?;
        if hz == 0 { Err(texts::ZERO_FREQUENCY.into()) } else { Ok(counter / hz as f64) }
    });
    PerformanceCounter {
        counter_counts: counter_counts.into(),
        frequency_hz,
        bypass_flags,
        bypass_shift,
        enters_kernel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every figure is known or has its reason, and a frequency of 0 divides nothing.
    #[test]
    fn counter_facts_become_a_record() {
        use clockscope_records::reasons;
        let counter_facts = |hz| CounterFacts {
            frequency_hz: Figure::Known(hz),
            bypass_flags: Figure::Known(1),
            bypass_shift: Figure::Known(10),
            enters_kernel: Figure::unknown(texts::NOT_REPORTED),
        };
        let found = recorded(counter_facts(2_143_473), &Figure::Known(2_194_916_352.0));
        assert!(found.counter_counts.get().is_some_and(|counts| (counts - 1024.0).abs() < 0.01));
        assert_eq!(reasons(&found).keys().collect::<Vec<_>>(), ["enters_kernel"]);
        let none = recorded(counter_facts(0), &Figure::Known(2.2e9));
        assert_eq!(none.counter_counts, Figure::unknown(texts::ZERO_FREQUENCY));
    }
}
