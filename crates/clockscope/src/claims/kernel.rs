//! What the kernel's word on the error of its civil clock is worth.
//!
//! adjtimex(2) has the largest error that a time daemon stated, and not which daemon that was, nor
//! always what is still to be corrected. The daemons differ in which fields they set, and to what:
//! by that signature it is known what a bound means. The signatures were recorded from the daemons
//! themselves (`adjtimex.txt`): chronyd 4.3, ntpd (ntpsec 1.2.2), systemd-timesyncd 252, phc2sys
//! (linuxptp 3.1.1).

use clockscope_arch::civil::{KernelClockState, NO_ERROR_STATED_US};

use super::claim::{Basis, Claim, Unbounded, Worth};
use crate::disciplined::{State as Standing, Stated};

/// No ordinary oscillator is off by more, in ppm: a rate beyond that works an offset off.
const OSCILLATOR_PPM: f64 = 100.0;

/// The loop's frequency is the oscillator's error, of up to this, in ppm (MAXFREQ of
/// include/linux/timex.h). What is beyond that, another daemon has left in the tick. Below it the
/// largest error grows as fast.
const LOOP_PPM: f64 = 500.0;

/// The loop works off this share of the offset in a second: 1 / 2^(SHIFT_PLL + constant), where
/// SHIFT_PLL is 2 (kernel/time/ntp.c).
const SHIFT_PLL: u32 = 2;

/// adjtime(3) moves the clock by this in a second, in µs (MAX_TICKADJ of kernel/time/ntp.c).
const ADJUSTED_IN_A_SECOND_US: i64 = 500;

/// The kernel adds this to the largest error in each second, in µs (MAXFREQ of
/// include/linux/timex.h).
const ADDED_IN_A_SECOND_US: u64 = 500;

/// Who keeps the clock right, as far as what was set shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signature {
    /// No daemon, as far as what was set shows.
    Unset,
    /// ntpd in its ordinary state: the kernel's loop in nanoseconds, and both errors are stated.
    Loop,
    /// chronyd: the errors are stated, and offsets are worked off by the rate, which the kernel
    /// does not know. Without `rtcsync` chronyd leaves STA_UNSYNC set.
    Rate,
    /// ntpd in its first minutes: the loop is not in nanoseconds yet, and an offset of any size is
    /// handed to adjtime(3) in portions, which neither error includes.
    Beginning,
    /// timesyncd, ptp4l, phc2sys: the error is set to zero, however large the offset is, and grows
    /// by what the kernel adds. (chronyd states just such an error once in 500 times.)
    Zeroed,
}

/// Judges the kernel's word.
pub(crate) trait Judged {
    /// Whether chronyd may be the one who keeps the clock.
    #[cfg(feature = "chrony")]
    fn may_be_chronyd(&self) -> bool;

    /// Whether nobody states an error.
    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    fn has_no_error(&self) -> bool;

    /// The interval in which the true time is by the kernel's word, where its clock was read within
    /// `took_ns`.
    ///
    /// # Errors
    /// There is none, or it is not worth anything.
    fn claim(&self, took_ns: u64) -> Result<Claim, Unbounded>;

    /// The same, as it may be carried on for a second. Near a leap second it is asked for anew each
    /// time, because the kernel sets its clock then.
    fn stated(&self) -> Stated;
}

impl Judged for KernelClockState {
    #[cfg(feature = "chrony")]
    fn may_be_chronyd(&self) -> bool {
        let is_steered = matches!(signature(self), Signature::Rate | Signature::Zeroed);
        is_steered && !self.is_by_loop && self.estimated_error_us < NO_ERROR_STATED_US
    }

    #[cfg(all(feature = "clockbound", target_os = "linux"))]
    fn has_no_error(&self) -> bool {
        signature(self) == Signature::Unset
    }

    fn claim(&self, took_ns: u64) -> Result<Claim, Unbounded> {
        let (basis, worth) = match signature(self) {
            Signature::Unset => return Err(Unbounded::unsynchronized(self.unix_ns)),
            Signature::Loop if self.adjust_us.is_none() => (Basis::KernelLoop, Worth::WhileNotSlewing),
            Signature::Loop => (Basis::KernelLoop, Worth::Trusted),
            Signature::Rate => (Basis::SteeredRate, Worth::WhileNotSlewing),
            Signature::Beginning => (Basis::Beginning, Worth::Worthless),
            Signature::Zeroed => (Basis::ZeroedError, Worth::Worthless),
        };
        let claim = Claim::around(self.unix_ns, error_ns(self, took_ns), (basis, worth), self.leap)
            .moved(loop_ns(self))
            .moved(adjusted_ns(self));
        if worth == Worth::Worthless {
            return Err(claim.bounded(0).map_or_else(|error| error, Unbounded::Worthless));
        }
        let most_ppm = if basis == Basis::KernelLoop { LOOP_PPM } else { OSCILLATOR_PPM };
        if self.rate_ppm.abs() > most_ppm {
            let ppm = self.rate_ppm.round() as i32;
            return Err(claim.bounded(0).map_or_else(|error| error, |claimed| Unbounded::Slewing { claimed, ppm }));
        }
        Ok(claim)
    }

    fn stated(&self) -> Stated {
        const SECOND_NS: i128 = 1_000_000_000;
        let state = match self.claim(0) {
            Ok(claim) => return claim.stated(self.rate_ppm, SECOND_NS),
            Err(Unbounded::Slewing { .. }) => Standing::Slewing,
            Err(Unbounded::Worthless(_)) => Standing::Worthless,
            Err(Unbounded::Unsynchronized(_)) => Standing::Unsynchronized,
            Err(_) => Standing::Unavailable,
        };
        Stated { rate_ppm: self.rate_ppm, ..Stated::nothing(state) }
    }
}

fn signature(state: &KernelClockState) -> Signature {
    let states_error = state.max_error_us < NO_ERROR_STATED_US;
    let is_alone = state.is_unsynchronized && state.is_by_loop;
    if state.has_failed || !states_error || is_alone {
        return Signature::Unset;
    }
    // ptp4l and phc2sys leave the estimated error as the kernel had it, or the daemon before.
    let is_zeroed = state.max_error_us.is_multiple_of(ADDED_IN_A_SECOND_US);
    match state.is_by_loop {
        true if state.estimated_error_us == 0 => Signature::Zeroed,
        true if state.is_in_ns => Signature::Loop,
        true => Signature::Beginning,
        false if state.estimated_error_us >= NO_ERROR_STATED_US || is_zeroed => Signature::Zeroed,
        false => Signature::Rate,
    }
}

/// The stated error, the clock's unit, and the time in which it was read.
fn error_ns(state: &KernelClockState, took_ns: u64) -> u64 {
    (state.max_error_us * 1000).saturating_add(state.unit_ns).saturating_add(took_ns)
}

/// By how much the kernel's loop will move the clock at most, in ns. What it works off in the
/// present second is no longer part of its offset.
fn loop_ns(state: &KernelClockState) -> i64 {
    let share = 1i64.checked_shl(SHIFT_PLL.saturating_add(state.time_constant).min(62)).unwrap_or(i64::MAX);
    state.offset_ns.saturating_add(state.offset_ns / (share - 1))
}

/// By how much adjtime(3) will, likewise.
fn adjusted_ns(state: &KernelClockState) -> i64 {
    let rest_us = state.adjust_us.unwrap_or(0);
    rest_us.saturating_add(rest_us.signum() * ADJUSTED_IN_A_SECOND_US).saturating_mul(1000)
}
