//! Judges the kernel's statement on the error of its wall clock.
//!
//! adjtimex(2) has the largest error that a time daemon stated, and not which daemon that was, nor
//! always what is still to be corrected. The daemons differ in which fields they set, and to what.
//! Several daemons may leave the same state. Then the bound is the widest of theirs, and is worth
//! what the worst of them is worth.
//!
//! Most states were recorded from the daemons themselves, beside a known true time
//! (`adjtimex.txt`): chronyd 4.3, ntpd (ntpsec 1.2.2), systemd-timesyncd 252, phc2sys (linuxptp
//! 3.1.1). ClockBound 3 and ntpd-rs are known only by their sources, and are not trusted:
//!
//! - ClockBound 3.0.0-rc.0, `src/daemon/time/timex.rs` (`from_phase_correction`) of the crate
//!   clock-bound: STA_PLL, nanoseconds, a time constant of 0, and the error bound of its own clock
//!   as both errors. The offset goes to the kernel's loop.
//! - ntpd-rs 1.9.0, `ntp-proto/src/algorithm/kalman/mod.rs` (`error_estimate_update`) and
//!   `ntp-proto/src/system.rs` (`root_dispersion`); clock-steering 0.2.1, `src/unix.rs`: no loop,
//!   the root delay as the largest error, and the standard deviation of the offset as the estimated
//!   one. It slews by the frequency, by up to 200 ppm.

use clockscope_core::kernel_clock::{KernelClockState, UNKNOWN_ERROR_US};

use super::{Unbounded, WallInterval};
use crate::disciplined::WallStatement;
use clockscope_core::Basis;
use clockscope_core::WallState;

/// Largest error of an ordinary oscillator, in ppm: a larger correction is a slew.
const MAX_OSCILLATOR_PPM: f64 = 100.0;

/// Largest correction of the oscillator by the kernel's loop, in ppm (MAXFREQ of
/// include/linux/timex.h). A larger one was left in the tick by another daemon. Up to it, the
/// largest error grows as fast.
const MAX_LOOP_PPM: f64 = 500.0;

/// The loop works off this share of the offset in a second: 1 / 2^(SHIFT_PLL + constant), where
/// SHIFT_PLL is 2 (kernel/time/ntp.c).
const SHIFT_PLL: u32 = 2;

/// adjtime(3) moves the clock by this in a second, in µs (MAX_TICKADJ of kernel/time/ntp.c).
const ADJUSTED_IN_A_SECOND_US: i64 = 500;

/// The kernel adds this to the largest error in each second, in µs (MAXFREQ of
/// include/linux/timex.h).
const ADDED_IN_A_SECOND_US: u64 = 500;

/// Standard deviations that a bound has room for where a daemon states one of them.
const DEVIATIONS: u64 = 3;

/// A daemon, or several that set the same fields alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Daemon {
    /// ntpd in its ordinary state: the kernel's loop in nanoseconds, and both errors are stated.
    Ntpd,
    /// ntpd in its first minutes: the loop is not in nanoseconds yet, and an offset of any size is
    /// handed to adjtime(3) in portions, which neither error includes.
    BeginningNtpd,
    /// ClockBound 3: the kernel's loop in nanoseconds with the time constant 0, and one figure as
    /// both errors, the largest of which grows.
    ClockBound,
    /// chronyd: the errors are stated, and offsets are worked off by the rate, which the kernel
    /// does not know. Without `rtcsync` chronyd leaves STA_UNSYNC set.
    Chronyd,
    /// ntpd-rs: the same, with the root delay for the largest error.
    NtpdRs,
    /// timesyncd: both errors are set to zero, however large the offset is.
    Timesyncd,
    /// ptp4l, phc2sys: the largest error is set to zero, and grows by what the kernel adds.
    /// (chronyd states just such an error once in 500 times.)
    Ptp,
}

impl Daemon {
    const ALL: [Self; 7] =
        [Self::Ntpd, Self::BeginningNtpd, Self::ClockBound, Self::Chronyd, Self::NtpdRs, Self::Timesyncd, Self::Ptp];

    /// Returns whether it may have left a state in which some daemon states an error.
    fn may_have_left(self, state: &KernelClockState) -> bool {
        let (largest_us, estimated_us) = (state.max_error_us, state.estimated_error_us);
        // The kernel does not let the estimated error grow.
        let grown_us = largest_us.checked_sub(estimated_us);
        match self {
            Self::Ntpd => state.is_by_loop && state.is_in_ns,
            Self::BeginningNtpd => state.is_by_loop && !state.is_in_ns,
            Self::ClockBound => {
                let is_one_figure = grown_us.is_some_and(|us| us % ADDED_IN_A_SECOND_US == 0);
                state.is_by_loop && state.is_in_ns && state.time_constant == 0 && is_one_figure
            }
            Self::Chronyd | Self::NtpdRs => !state.is_by_loop && estimated_us < UNKNOWN_ERROR_US,
            Self::Timesyncd => state.is_by_loop && estimated_us == 0,
            // They leave the estimated error as the kernel had it, or the daemon before.
            Self::Ptp => {
                let is_zeroed = largest_us % ADDED_IN_A_SECOND_US == 0;
                !state.is_by_loop && (estimated_us >= UNKNOWN_ERROR_US || is_zeroed)
            }
        }
    }

    /// Returns the basis of its bound.
    fn basis(self) -> Basis {
        match self {
            Self::Ntpd | Self::ClockBound => Basis::KernelLoop,
            Self::BeginningNtpd => Basis::Beginning,
            Self::Chronyd | Self::NtpdRs => Basis::SteeredRate,
            Self::Timesyncd | Self::Ptp => Basis::ZeroedError,
        }
    }

    /// Returns the worth of its bound in this state.
    fn wall_state(self, state: &KernelClockState) -> WallState {
        match self {
            Self::Ntpd if state.adjust_us.is_some() => WallState::Synchronized,
            Self::Ntpd | Self::ClockBound | Self::Chronyd | Self::NtpdRs => WallState::WhileNotSlewing,
            Self::BeginningNtpd | Self::Timesyncd | Self::Ptp => WallState::Worthless,
        }
    }

    /// The largest error that it means, in µs.
    fn error_us(self, state: &KernelClockState) -> u64 {
        match self {
            // The root distance is half the root delay and the dispersion. All of the delay is
            // taken, because the growth of the figure in the kernel is not known.
            Self::NtpdRs => state.max_error_us + DEVIATIONS * state.estimated_error_us,
            _ => state.max_error_us,
        }
    }
}

/// Judges the kernel's statement.
pub(crate) trait KernelBounds {
    /// Returns true if chronyd may keep the clock.
    #[cfg(feature = "chrony")]
    fn may_be_chronyd(&self) -> bool;

    /// Returns true if no error is stated.
    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    fn has_no_error(&self) -> bool;

    /// The interval of the true time by the kernel's statement, where its clock was read within
    /// `took_ns`.
    ///
    /// # Errors
    /// There is none, or it is not worth anything.
    fn interval(&self, took_ns: u64) -> Result<WallInterval, Unbounded>;

    /// The interval as a statement that may be carried on for a second. Near a leap second it is
    /// asked for anew each time, because the kernel sets its clock then.
    fn wall_statement(&self) -> WallStatement;
}

impl KernelBounds for KernelClockState {
    #[cfg(feature = "chrony")]
    fn may_be_chronyd(&self) -> bool {
        daemons(self).any(|daemon| daemon == Daemon::Chronyd)
    }

    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    fn has_no_error(&self) -> bool {
        daemons(self).next().is_none()
    }

    fn interval(&self, took_ns: u64) -> Result<WallInterval, Unbounded> {
        let Some(worst) = daemons(self).max_by_key(|daemon| daemon.wall_state(self) as u8) else {
            return Err(Unbounded::unsynchronized(self.unix_ns));
        };
        let (basis, state) = (worst.basis(), worst.wall_state(self));
        let interval = WallInterval::around(self.unix_ns, error_ns(self, took_ns), (basis, state), self.leap)
            .moved(loop_ns(self))
            .moved(adjusted_ns(self));
        if state == WallState::Worthless {
            return Err(interval.on_scale(0).map_or_else(|error| error, Unbounded::Worthless));
        }
        let max_ppm = if basis == Basis::KernelLoop { MAX_LOOP_PPM } else { MAX_OSCILLATOR_PPM };
        if self.rate_ppm.abs() > max_ppm {
            let ppm = self.rate_ppm.round() as i32;
            return Err(interval
                .on_scale(0)
                .map_or_else(|error| error, |interval| Unbounded::Slewing { interval, ppm }));
        }
        Ok(interval)
    }

    fn wall_statement(&self) -> WallStatement {
        const SECOND_NS: i128 = 1_000_000_000;
        let state = match self.interval(0) {
            Ok(interval) => return interval.wall_statement(self.rate_ppm, SECOND_NS),
            Err(Unbounded::Slewing { .. }) => WallState::Slewing,
            Err(Unbounded::Worthless(_)) => WallState::Worthless,
            Err(Unbounded::Unsynchronized(_)) => WallState::Unsynchronized,
            Err(_) => WallState::Unavailable,
        };
        WallStatement { rate_ppm: self.rate_ppm, ..WallStatement::nothing(state) }
    }
}

/// The daemons that may have left this state; none if no error is stated.
fn daemons(state: &KernelClockState) -> impl Iterator<Item = Daemon> {
    let states_error = state.max_error_us < UNKNOWN_ERROR_US;
    let is_free_running = state.is_unsynchronized && state.is_by_loop;
    let is_valid = states_error && !state.has_failed && !is_free_running;
    Daemon::ALL.into_iter().filter(move |daemon| is_valid && daemon.may_have_left(state))
}

/// The largest error that one of the daemons means, the clock's unit, and the time in which it was
/// read.
fn error_ns(state: &KernelClockState, took_ns: u64) -> u64 {
    let error_us = daemons(state).map(|daemon| daemon.error_us(state)).max().unwrap_or(state.max_error_us);
    (error_us * 1000).saturating_add(state.unit_ns).saturating_add(took_ns)
}

/// Largest correction that the kernel's loop will make, in ns. Its offset does not include the
/// correction of the current second.
fn loop_ns(state: &KernelClockState) -> i64 {
    let share = 1i64.checked_shl(SHIFT_PLL.saturating_add(state.time_constant).min(62)).unwrap_or(i64::MAX);
    state.offset_ns.saturating_add(state.offset_ns / (share - 1))
}

/// Largest correction that adjtime(3) will make, in ns, with that of the current second.
fn adjusted_ns(state: &KernelClockState) -> i64 {
    let pending_us = state.adjust_us.unwrap_or(0);
    pending_us.saturating_add(pending_us.signum() * ADJUSTED_IN_A_SECOND_US).saturating_mul(1000)
}
