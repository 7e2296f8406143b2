//! Context that all records of a run share.

use clockscope_records::{Environment, RecordedTimer, TimerRecord};
use clockscope_system::clocksource;
use clockscope_system::{ClockBasis, ClockInfo};

/// The timer with its reference, and the machine.
pub(crate) struct Context<'a> {
    pub(crate) timer: RecordedTimer,
    pub(crate) environment: &'a Environment,
}

impl Context<'_> {
    pub(crate) fn timer_record(&self) -> TimerRecord {
        let RecordedTimer { name, mean_rate, reference, .. } = &self.timer;
        let rate = self.timer.rate();
        TimerRecord {
            name: name.clone(),
            frequency_hz: 1e9 / rate.ns_per_unit,
            frequency_problem: mean_rate.is_none().then(|| "the timer or its reference stood still, stepped or changed its rate during the run: this is the timer's frequency at the start".into()),
            frequency_bound_ppm: rate.bound_ppm,
            reference: reference.clone(),
        }
    }

    /// ns a tick of the processor's counter, where the kernel builds its clocks on it.
    pub(crate) fn counter_under_the_kernel(&self) -> Option<f64> {
        let counted = self.timer.is_counter && self.clocksource_is_counter() == Some(true);
        counted.then_some(self.timer.rate().ns_per_unit)
    }

    /// Returns true if the kernel's clocks are built on the processor's counter; `None` where the
    /// clocksource is not known.
    fn clocksource_is_counter(&self) -> Option<bool> {
        self.environment.clocksource.as_deref().and_then(clocksource::is_counter_based)
    }

    /// Returns true if the clock and its reference are based on one hardware counter.
    pub(crate) fn shares_hardware(&self, info: &ClockInfo, judged_outside: bool) -> Option<bool> {
        match (judged_outside, info.basis == ClockBasis::Clocksource, self.timer.is_counter) {
            // The counter against the kernel's clock, or the kernel's clock against the counter.
            (true, ..) | (false, true, true) => self.clocksource_is_counter(),
            // Both by the kernel.
            (false, true, false) => Some(true),
            (false, false, _) => Some(false),
        }
    }
}
