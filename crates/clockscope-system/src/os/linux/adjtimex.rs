//! adjtimex(2), asked and not changed.

use clockscope_core::Errno;
use clockscope_records::Adjtimex;

/// Reads the kernel's figures.
pub(crate) fn adjtimex() -> Option<Result<Adjtimex, Errno>> {
    Some(clockscope_core::os::adjtimex().map(|state| recorded(&state)))
}

/// Returns the kernel's figures as records have them.
fn recorded(state: &libc::timex) -> Adjtimex {
    let offset_unit_ns = if state.status & libc::STA_NANO != 0 { 1 } else { 1000 };
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    Adjtimex {
        // ppm with 16 bits of fraction.
        freq_ppm: state.freq as f64 / 65536.0,
        tick_us: state.tick as i64,
        offset_ns: (state.offset as i64).saturating_mul(offset_unit_ns),
        maxerror_us: state.maxerror as i64,
        esterror_us: state.esterror as i64,
        tai_offset_s: (state.tai != 0).then_some(i64::from(state.tai)),
        status: FLAGS.iter().filter(|(bit, _)| state.status & bit != 0).map(|(_, name)| (*name).to_owned()).collect(),
        state: None,
        time_of_day_error_s: None,
    }
}

const FLAGS: [(libc::c_int, &str); 16] = [
    (libc::STA_PLL, "pll"),
    (libc::STA_PPSFREQ, "ppsfreq"),
    (libc::STA_PPSTIME, "ppstime"),
    (libc::STA_FLL, "fll"),
    (libc::STA_INS, "ins"),
    (libc::STA_DEL, "del"),
    (libc::STA_UNSYNC, "unsync"),
    (libc::STA_FREQHOLD, "freqhold"),
    (libc::STA_PPSSIGNAL, "ppssignal"),
    (libc::STA_PPSJITTER, "ppsjitter"),
    (libc::STA_PPSWANDER, "ppswander"),
    (libc::STA_PPSERROR, "ppserror"),
    (libc::STA_CLOCKERR, "clockerr"),
    (libc::STA_NANO, "nano"),
    (libc::STA_MODE, "mode"),
    (libc::STA_CLK, "clk"),
];

#[cfg(test)]
mod tests {
    use clockscope_core::os;

    #[test]
    fn the_kernel_answers() {
        let found = super::adjtimex().unwrap().unwrap();
        // At 100 Hz of USER_HZ a tick is 10 ms, plus or minus what steering takes: a tenth at most.
        assert!((9_000..=11_000).contains(&found.tick_us), "{found:?}");
        assert!(found.freq_ppm.abs() <= 500.0, "{found:?}");
    }

    #[test]
    fn an_offset_has_the_unit_that_the_status_names() {
        let mut state = os::adjtimex().unwrap();
        (state.offset, state.freq) = (-7, 65_536 + 32_768);
        for (status, flags, offset_ns) in [
            (0, &[][..], -7_000),
            (libc::STA_NANO, &["nano"], -7),
            (libc::STA_PLL | libc::STA_UNSYNC, &["pll", "unsync"], -7_000),
        ] {
            state.status = status;
            let found = super::recorded(&state);
            assert_eq!((found.offset_ns, found.freq_ppm), (offset_ns, 1.5), "{status}");
            assert_eq!(found.status, flags);
        }
    }
}
