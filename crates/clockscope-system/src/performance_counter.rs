//! QueryPerformanceCounter of Windows: its frequency. `os/windows/facts.rs` has the call.

use clockscope_records::{Figure, PerformanceCounter, texts};

use crate::os::facts;

/// Returns the facts of QueryPerformanceCounter; `None` on other systems than Windows.
/// `counter_hz` is the frequency of the processor's counter, measured, or why it is unknown.
#[must_use]
pub fn read(counter_hz: &Figure<f64>) -> Option<PerformanceCounter> {
    facts::performance_counter_hz().map(|frequency_hz| recorded(frequency_hz, counter_hz))
}

/// Returns the record of a frequency.
fn recorded(frequency_hz: Figure<u64>, counter_hz: &Figure<f64>) -> PerformanceCounter {
    let counter_counts = frequency_hz.clone().result().and_then(|hz| {
        let counter = counter_hz.clone().result()?;
        if hz == 0 { Err(texts::ZERO_FREQUENCY.into()) } else { Ok(counter / hz as f64) }
    });
    PerformanceCounter { counter_counts: counter_counts.into(), frequency_hz }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every figure is known or has its reason, and a frequency of 0 divides nothing.
    #[test]
    fn a_frequency_becomes_a_record() {
        let counts = |hz: Figure<u64>, counter_hz: f64| recorded(hz, &Figure::Known(counter_hz)).counter_counts;
        let ratio = counts(Figure::Known(2_143_473), 2_194_916_352.0).get();
        assert!(ratio.is_some_and(|counts| (counts - 1024.0).abs() < 0.01));
        assert_eq!(counts(Figure::Known(0), 2.2e9), Figure::unknown(texts::ZERO_FREQUENCY));
        let failed = Figure::unknown("QueryPerformanceFrequency failed");
        assert_eq!(counts(failed, 2.2e9), Figure::unknown("QueryPerformanceFrequency failed"));
    }
}
