//! Context that all records of a run share.

use clockscope_records::Environment;
use clockscope_system::clocksource;
use clockscope_system::{ClockBasis, ClockInfo};

use crate::platform::{Platform, ReferenceClock};
use crate::timer::{Timer, TimerRate};

/// The timer, its rate, the reference, the machine.
pub(crate) struct Context<'a, P: Platform> {
    /// The timer's rate over the whole run.
    pub(crate) rate: TimerRate,
    /// True if it is the one at the start instead.
    pub(crate) is_rate_of_start: bool,
    pub(crate) timer: Timer<P>,
    /// The step that the timer moves in, in its unit.
    pub(crate) timer_step: f64,
    /// Largest cost of a call of the timer, in its unit; 0 for a counter.
    pub(crate) timer_call: f64,
    pub(crate) reference: P::Reference,
    pub(crate) environment: &'a Environment,
}

impl<P: Platform> Context<'_, P> {
    pub(crate) fn timer_record(&self) -> clockscope_records::TimerRecord {
        clockscope_records::TimerRecord {
            name: self.timer.name().to_owned(),
            frequency_hz: 1e9 / self.rate.ns_per_unit,
            frequency_doubt: self.is_rate_of_start.then(|| "the timer or its reference stood still, stepped or changed its rate during the run: this is the timer's frequency at the start".into()),
            frequency_bound_ppm: self.rate.bound_ppm,
            reference: self.reference.name().to_owned(),
        }
    }

    /// ns a tick of the processor's counter, where the kernel builds its clocks on it.
    pub(crate) fn counter_under_the_kernel(&self) -> Option<f64> {
        let counted = matches!(self.timer, Timer::Counter(_)) && self.clocksource_is_counter() == Some(true);
        counted.then_some(self.rate.ns_per_unit)
    }

    /// Returns true if the kernel's clocks are built on the processor's counter; `None` where the
    /// clocksource is not known.
    fn clocksource_is_counter(&self) -> Option<bool> {
        self.environment.clocksource.as_deref().and_then(clocksource::is_counter_based)
    }

    /// Returns true if the clock and its reference are based on one hardware counter.
    pub(crate) fn shares_hardware(&self, info: &ClockInfo, judged_outside: bool) -> Option<bool> {
        match (judged_outside, info.basis == ClockBasis::Clocksource, &self.timer) {
            // The counter against the kernel's clock, or the kernel's clock against the counter.
            (true, ..) | (false, true, Timer::Counter(_)) => self.clocksource_is_counter(),
            // Both by the kernel.
            (false, true, Timer::Reference(_)) => Some(true),
            (false, false, _) => Some(false),
        }
    }
}
