//! Keepers of the time of day beside the kernel: chronyd, and PTP hardware clocks.
//!
//! Nothing here reads a clock through the C library, and nothing is changed.

use clockscope_core::chrony;
use clockscope_records::{ChronyTracking, Figure, PtpClock, Unknown, texts};

/// Asks chronyd on the loopback. Takes 10 ms at most.
#[must_use]
pub fn chrony() -> Figure<ChronyTracking> {
    // The socket's port is random, so that the process's number is enough to recognize the answer.
    judged(chrony::ask_at(chrony::ADDRESS, std::process::id())).into()
}

/// Takes what chronyd states, if it knows its error.
fn judged(answer: Option<chrony::Tracking>) -> Result<ChronyTracking, Unknown> {
    let found = answer.ok_or(texts::NO_CHRONY)?;
    if !found.is_synchronized {
        return Err(texts::CHRONY_UNSYNCHRONIZED.into());
    }
    Ok(ChronyTracking {
        stratum: found.stratum,
        correction_s: found.correction_s,
        error_s: found.error_s(),
        freq_ppm: found.freq_ppm,
        skew_ppm: found.skew_ppm,
        update_interval_s: found.update_interval_s,
    })
}

/// Compares each PTP hardware clock with CLOCK_REALTIME; none on systems other than Linux.
#[must_use]
pub fn ptp() -> Vec<PtpClock> {
    crate::os::facts::ptp()
}

#[cfg(test)]
mod tests {
    use clockscope_core::kernel_clock::Leap;

    use super::*;

    #[test]
    fn an_unsynchronized_chronyd_states_nothing() {
        let answer = chrony::Tracking {
            is_synchronized: true,
            leap: Leap::None,
            stratum: 3,
            correction_s: -0.000_2,
            freq_ppm: -12.5,
            skew_ppm: 0.05,
            root_delay_s: 0.02,
            root_dispersion_s: 0.001,
            update_interval_s: 64.0,
        };
        let found = judged(Some(answer)).unwrap();
        assert!((found.error_s - 0.011).abs() < 1e-12 && found.stratum == 3, "{found:?}");
        let without = chrony::Tracking { is_synchronized: false, ..answer };
        assert_eq!(judged(Some(without)), Err(texts::CHRONY_UNSYNCHRONIZED.into()));
        assert_eq!(judged(None), Err(texts::NO_CHRONY.into()));
    }
}
