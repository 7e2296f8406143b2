//! The questions that a disciplined clock answers about itself.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::sync::atomic::Ordering;
use core::time::Duration;

use clockscope_core::brackets::Bracket;
use clockscope_core::clocksource::ClocksourceName;
use clockscope_core::counter::FrequencySource;
use clockscope_core::evidence::{
    self, CLOCKSOURCE, FrequencyOffset, INVARIANCE, KernelClocksource, NOMINAL_FREQUENCY, NOT_INVARIANT_ADVICE,
    NOT_PERMITTED_ADVICE, NominalFrequency, ORDER,
};
use clockscope_core::pause;

use super::layers::Report;
use super::page::version::ServingMode;
use super::rate::calibration::{MeanRate, both_ticks};
use super::readings::ANSWER_TRIES;
use super::steering::Wanted;
use super::trust::system_answers::Answers;
use super::{Counter, OsClock};
use crate::Instant;
use crate::conversion::{Conversion, Uncalibrated};
use crate::evidence::{ErrorBound, Evidence, Finding, Frequency, Source};
use crate::lattice;

/// Sources of the answers on the system's clocks, and on the permission to read the counter.
const CLOCKSOURCE_SOURCE: &str =
    if cfg!(any(target_os = "linux", target_os = "android")) { "sysfs" } else { "the system" };
const PERMISSION_SOURCE: &str =
    if cfg!(any(target_os = "linux", target_os = "android")) { "prctl PR_GET_TSC" } else { "the system" };

/// Shortest tick of a clock, in ns, that takes too long to measure.
const MIN_COARSE_TICK_NS: u64 = 1_000_000;

/// Number of equal readings after which a clock is considered frozen.
const MIN_FROZEN_READINGS: u64 = 20_000;

impl<C: Counter, S: OsClock> Report<C, S> {
    /// Source of the time that would be served now.
    pub(super) fn source(&self) -> Source {
        self.prepare();
        if self.serve_line().is_some() {
            Source::Counter
        } else if self.os.now_ns().is_ok() {
            Source::OsClock
        } else {
            Source::Nothing
        }
    }

    /// Returns the error by a fresh bracket, with the bracket's width, and the largest since the
    /// generation began. While the OS clock is served, its tick, with the lead of a held time.
    /// `None` if it does not answer.
    pub(super) fn error_bound(&self) -> Option<ErrorBound> {
        self.prepare();
        let page = &self.page;
        // While another thread holds the lock, only this bracket compares the line.
        let tick_ns = self.verify().unwrap_or_else(|| self.ticks_by_line(self.os_tick_ns()));
        let error = match self.error_by_line(tick_ns) {
            Some(error) => error,
            None => {
                // The floor first: it may be raised to a later time at any moment.
                let floor = page.floor();
                let ahead = floor.saturating_sub(self.os_ns().ok()?);
                self.os_tick_ns().saturating_add(ahead)
            }
        };
        if error > page.largest_error_ns.load(Ordering::Relaxed) {
            self.raise_largest_error(error, self.os_ns().unwrap_or(page.floor()));
        }
        let largest = page.largest_error_ns.load(Ordering::Relaxed).max(error);
        Some(ErrorBound {
            now: Duration::from_nanos(error),
            largest: Duration::from_nanos(largest),
            largest_at: Instant::from_ns(page.largest_error_at_ns.load(Ordering::Relaxed)),
        })
    }

    /// Error of a clock's readings by the line: that of our timeline and of the offset.
    #[cfg(not(clockscope_models))]
    pub(crate) fn offset_error_bound(&self, clock: super::page::OffsetClock) -> Option<ErrorBound> {
        let timeline = self.error_bound()?;
        let (now, largest) = self.offset_error_ns(clock)?;
        Some(ErrorBound {
            now: timeline.now + Duration::from_nanos(now),
            largest: timeline.largest + Duration::from_nanos(largest),
            largest_at: timeline.largest_at,
        })
    }

    /// Returns the counter's mean frequency over the calibration's window.
    pub(super) fn frequency(&self) -> Option<Frequency> {
        self.conversion().map(|conversion| *conversion.frequency())
    }

    /// Calibrates for a window or two and begins a line, unless there is one, even if readings are
    /// rare. Reads the OS clock meanwhile.
    fn wake(&self) {
        self.prepare();
        let page = &self.page;
        let Ok(start_ns) = self.os_ns() else { return };
        // A read takes 5 ns at least. The number of turns is limited because the clock may freeze.
        for turn in 0..self.window_ns() / 5 {
            if self.serve_line().is_some() || !page.version().is_tried() {
                return;
            }
            let Ok(os_ns) = self.os_ns() else { return };
            if turn > MIN_FROZEN_READINGS && os_ns == start_ns {
                return;
            }
            let wait_ns = page.next_try_ns.load(Ordering::Relaxed).saturating_sub(os_ns);
            if wait_ns > self.window_ns() || os_ns.wrapping_sub(start_ns) > 3 * self.window_ns() {
                return;
            }
            if wait_ns == 0 {
                self.resume(os_ns, Wanted::ByQuestion);
            }
        }
    }

    /// Conversion of ticks into time, by the window of [`Self::frequency`].
    pub(super) fn conversion(&self) -> Option<Conversion> {
        self.wake();
        self.verify();
        let mean = self.mean_rate()?;
        let snapshot = self.snapshot();
        let ns = snapshot.line.at(snapshot.tick)?;
        Some(Conversion::new(snapshot.tick, ns.max(snapshot.floor), frequency_of(&mean)))
    }

    /// Conversion of ticks into time, by two brackets. Waits for `duration` between them.
    ///
    /// # Errors
    /// [`Uncalibrated`].
    #[cfg(feature = "std")]
    pub(super) fn calibrate_blocking(&self, duration: Duration) -> Result<Conversion, Uncalibrated> {
        self.prepare();
        let answers = self.trust.answers().unwrap_or_default();
        if answers.permitted == Some(false) {
            return Err(Uncalibrated::NotPermitted);
        }
        let start = self.narrowest_bracket(ANSWER_TRIES, 0).map_err(Uncalibrated::NoClock)?;
        if answers.invariant == Some(true) {
            pause(duration);
        }
        self.spin(&start, duration)?;
        let end = self.narrowest_bracket(ANSWER_TRIES, 0).map_err(Uncalibrated::NoClock)?;
        let rate = end.rate_since(&start, both_ticks(answers.os_tick_ns)).ok_or(Uncalibrated::Stuck)?;
        if rate.low <= 0.0 {
            return Err(Uncalibrated::Stuck);
        }
        let mean = MeanRate { rate, window_ns: end.inner_since(&start) };
        Ok(Conversion::new(end.middle(), end.inner, frequency_of(&mean)))
    }

    /// Reads the OS clock until `duration` has passed. Fails if the clock is frozen.
    #[cfg(feature = "std")]
    fn spin(&self, start: &Bracket, duration: Duration) -> Result<(), Uncalibrated> {
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        // A read takes 5 ns at least.
        for _ in 0..ns / 5 + 1000 {
            if self.os_ns().map_err(Uncalibrated::NoClock)?.wrapping_sub(start.inner) >= ns {
                return Ok(());
            }
        }
        Err(Uncalibrated::Stuck)
    }

    /// The smallest step between two consecutive readings; `None` if there was none.
    pub(super) fn resolution(&self) -> Option<Duration> {
        let ns = match self.conversion() {
            Some(conversion) => {
                let ticks = lattice::step(|| self.counter.unordered())?;
                ticks as f64 / conversion.frequency().hz * 1e9
            }
            None => {
                let ns = lattice::step(|| self.os.now_ns().unwrap_or(0)).unwrap_or(0);
                let tick_ns = self.os_tick_ns();
                // Too few readings for the tick of a coarse clock, which clock_getres states.
                if tick_ns >= MIN_COARSE_TICK_NS { ns.max(tick_ns) as f64 } else { ns as f64 }
            }
        };
        if ns > 0.0 { Some(Duration::from_nanos(((ns + 0.5) as u64).max(1))) } else { None }
    }

    /// Returns true if the time is a monotonic clock's, of a tick of 1 µs or less.
    pub(super) fn is_high_resolution(&self) -> bool {
        self.read();
        self.os.is_monotonic() && (self.source() == Source::Counter || self.os_tick_ns() <= 1000)
    }

    /// The evidence for and against the counter, and the reason why it is used or not. Counter and
    /// system are not asked: their answers are those of the last question.
    pub(super) fn evidence(&self) -> Vec<Evidence> {
        self.wake();
        let answers = self.trust.answers().unwrap_or_default();
        let answered = [self.permission(&answers), self.clocksource(&answers), self.invariance(&answers)];
        let mut evidence = Vec::from(answered);
        evidence.extend([self.order(), self.agreement(), self.nominal_frequency(&answers), self.move_notices()]);
        evidence.extend(self.step());
        evidence.extend(self.outcome());
        evidence
    }

    fn permission(&self, answers: &Answers) -> Evidence {
        let (finding, seen, advice) = match answers.permitted {
            Some(true) => (Finding::For, "the process may read it", ""),
            Some(false) => (Finding::Against, "this process may not read it", NOT_PERMITTED_ADVICE),
            None => (Finding::Unknown, "the system cannot be asked", ""),
        };
        Evidence::new("permission", finding, seen).by(PERMISSION_SOURCE).advise(advice)
    }

    fn clocksource(&self, answers: &Answers) -> Evidence {
        let (finding, advice) = match answers.clocksource {
            Some(true) => (Finding::For, ""),
            Some(false) => (
                Finding::Against,
                "the kernel's log says why (dmesg | grep -i tsc); if the counter is right nevertheless, revalidate() tests it",
            ),
            None => (
                Finding::Unknown,
                match cfg!(any(target_os = "linux", target_os = "android")) {
                    true => "mount /sys and call recheck(), or have the counter tested by revalidate()",
                    false => "admit_counter() takes the counter where the system accepts it",
                },
            ),
        };
        let name = self.trust.name_of(answers);
        let evidence = if name.is_none() && answers.name == 0 && !answers.is_complete && finding == Finding::For {
            Evidence::new(CLOCKSOURCE, finding, "the system accepts the counter; recheck() asks for its name")
        } else {
            let name = name.as_ref().map(ClocksourceName::as_str);
            let seen = KernelClocksource { name, is_it: finding == Finding::For }.to_string();
            let evidence = Evidence::new(CLOCKSOURCE, finding, seen);
            name.map(|name| evidence.clone().word(name.to_owned())).unwrap_or(evidence)
        };
        evidence.by(CLOCKSOURCE_SOURCE).advise(advice)
    }

    fn invariance(&self, answers: &Answers) -> Evidence {
        let (finding, advice) = match answers.invariant {
            Some(true) => (Finding::For, ""),
            Some(false) => (Finding::Against, NOT_INVARIANT_ADVICE),
            None => (Finding::Unknown, ""),
        };
        Evidence::new(INVARIANCE, finding, evidence::invariance(answers.invariant)).by("the processor").advise(advice)
    }

    fn order(&self) -> Evidence {
        if self.trust.test().is_some() {
            let seen = "no reading went back between the CPUs that were tested";
            return Evidence::new(ORDER, Finding::For, seen).by("revalidate()");
        }
        let seen = "not tested; the kernel tests it where its clocksource is the counter";
        Evidence::new(ORDER, Finding::Unknown, seen).advise("revalidate() tests it")
    }

    /// Agreement of the counter and the OS clock so far.
    fn agreement(&self) -> Evidence {
        let name = "agreement with the OS clock";
        let evidence = match self.error_bound() {
            Some(bound) if self.source() == Source::Counter => {
                let (largest, now) = (bound.largest, bound.now);
                Evidence::new(
                    name,
                    Finding::For,
                    alloc::format!("within {largest:?} since the generation began, {now:?} now"),
                )
                .figure(largest.as_nanos() as f64, "ns")
            }
            _ => Evidence::new(name, Finding::Unknown, "the counter is not in use, or not calibrated yet"),
        };
        evidence.by("brackets of both clocks")
    }

    /// The nominal frequency against the measured one. It is never used, so it neither supports nor
    /// contradicts the counter.
    fn nominal_frequency(&self, answers: &Answers) -> Evidence {
        let by_kernel = self.trust.kernel_hz().map(|hz| (hz, FrequencySource::Kernel.name()));
        let nominal = self.counter.nominal_hz().or(by_kernel);
        let offset = nominal.zip(self.frequency()).map(|((hz, _), measured)| FrequencyOffset {
            ppm: (hz / measured.hz - 1.0) * 1e6,
            bound_ppm: measured.bound_ppm(),
        });
        let text = NominalFrequency { hz: nominal.map(|(hz, _)| hz), offset }.to_string();
        let evidence = Evidence::new(NOMINAL_FREQUENCY, Finding::Unknown, text);
        match (nominal, offset) {
            (None, _) if answers.is_complete => evidence,
            (None, _) => Evidence::new(NOMINAL_FREQUENCY, Finding::Unknown, "the processor states no frequency")
                .advise("recheck() asks the kernel"),
            (Some((hz, source)), None) => evidence.figure(hz, "Hz").by(source),
            (Some((_, source)), Some(offset)) => evidence.figure(offset.ppm, "ppm").by(source),
        }
    }

    /// Move notices of the hypervisor. Without them, the clocks' disagreement shows moves: no
    /// evidence against the counter.
    fn move_notices(&self) -> Evidence {
        let (finding, seen) = match self.os.disruptions() {
            Some(_) => (Finding::For, "the hypervisor announces moves and restored snapshots"),
            None => {
                (Finding::Unknown, "nothing that this process may read announces that the machine is moved or restored")
            }
        };
        Evidence::new("announced moves", finding, seen).by("/dev/vmclock0")
    }

    /// The OS clock's step back, if there was one.
    fn step(&self) -> Option<Evidence> {
        let offset = Duration::from_nanos(self.timeline_offset_ns());
        if offset.is_zero() {
            return None;
        }
        let seen = alloc::format!("it stepped back, and the time continues {offset:?} ahead of it");
        let evidence = Evidence::new("steps of the OS clock", Finding::Unknown, seen);
        Some(evidence.figure(offset.as_nanos() as f64, "ns").by("readings of it"))
    }

    /// Reason why the counter is not used, if it is not.
    fn outcome(&self) -> Option<Evidence> {
        let ServingMode::Barred(reason) = self.page.mode() else { return None };
        let (seen, advice) = reason.explained();
        Some(Evidence::new("outcome", Finding::Against, seen).word(reason.word()).by("the clock itself").advise(advice))
    }
}

/// A mean rate in ns a tick as a frequency.
fn frequency_of(mean: &MeanRate) -> Frequency {
    Frequency {
        hz: 1e9 / mean.rate.middle(),
        lowest_hz: 1e9 / mean.rate.high,
        highest_hz: 1e9 / mean.rate.low,
        window: Duration::from_nanos(mean.window_ns.max(0.0) as u64),
    }
}
