//! The metrics of what keeps civil time.

use clockscope_records::{Adjtimex, ChronyTracking, CivilState, EvidenceData, PtpClock, Synchronization, Verdict};

use super::exposition::{Family, PER_NS, PER_PPM, PER_US, Series};
use crate::words::Text;

/// Returns what is known of civil time. Records of before the object `synchronization` have what
/// the evidence states.
pub(super) fn families(verdicts: &[Verdict], found: Option<&Synchronization>) -> Vec<Family> {
    let kernel = found.and_then(|found| found.adjtimex.known());
    let chrony = found.and_then(|found| found.chrony.known());
    let ptp = found.map_or(&[][..], |found| &found.ptp);
    let mut families = civil_families(verdicts, kernel);
    families.extend(of_kernel(kernel));
    families.extend(of_chrony(chrony));
    families.extend(of_ptp(ptp));
    families
}

/// The error of civil time, and what it is worth.
fn civil_families(verdicts: &[Verdict], kernel: Option<&Adjtimex>) -> Vec<Family> {
    let evidence = verdicts.iter().flat_map(|verdict| &verdict.evidence);
    let (mut state, mut error_s) = kernel.map_or((None, None), |kernel| (kernel.state, kernel.civil_error_s));
    for evidence in evidence {
        if let EvidenceData::Synchronization(check) = &evidence.data {
            (state, error_s) = (state.or(check.state), check.daemon_error_s.or(error_s).or(check.error_s));
        }
    }
    let labels = |state: CivilState| vec![("state", Text::from(state.as_str()))];
    vec![
        Family::of_one(
            "clockscope_sync_error_seconds",
            "Largest error of civil time in seconds; absent if nothing states a usable one.",
            error_s,
        ),
        Family::new(
            "clockscope_sync_state",
            "1 for the state of civil time, which the label state names.",
            [state.and_then(|state| Series::of(labels(state), Some(1.0)))],
        ),
    ]
}

fn of_kernel(kernel: Option<&Adjtimex>) -> Vec<Family> {
    let has = |flag: &str| kernel.map(|kernel| kernel.status.iter().any(|status| status == flag));
    let number = |is: bool| f64::from(u8::from(is));
    let leap = has("ins").zip(has("del")).map(|(inserted, deleted)| number(inserted) - number(deleted));
    let us = |of: fn(&Adjtimex) -> i64| kernel.map(|kernel| of(kernel) as f64 / PER_US);
    vec![
        Family::of_one(
            "clockscope_sync_synchronized",
            "1 if a time daemon states to the kernel that its clock is right, otherwise 0.",
            has("unsync").map(|is| number(!is)),
        ),
        Family::of_one(
            "clockscope_sync_kernel_offset_seconds",
            "Part of the error of its clock that the kernel has still to correct, in seconds.",
            kernel.map(|kernel| kernel.offset_ns as f64 / PER_NS),
        ),
        Family::of_one(
            "clockscope_sync_kernel_max_error_seconds",
            "Largest error of its clock that the kernel states, in seconds.",
            us(|kernel| kernel.maxerror_us),
        ),
        Family::of_one(
            "clockscope_sync_kernel_estimated_error_seconds",
            "Error of its clock that the kernel estimates, in seconds.",
            us(|kernel| kernel.esterror_us),
        ),
        Family::of_one(
            "clockscope_sync_kernel_frequency_ratio",
            "Correction of the frequency of the kernel's clock, as a ratio: 0.000001 is 1 ppm.",
            kernel.map(|kernel| kernel.freq_ppm / PER_PPM),
        ),
        Family::of_one(
            "clockscope_sync_leap_seconds",
            "Announced leap second, in seconds: 1 is to be inserted, -1 is to be left out, 0 is none.",
            leap,
        ),
    ]
}

fn of_chrony(chrony: Option<&ChronyTracking>) -> Vec<Family> {
    let of = |figure: fn(&ChronyTracking) -> f64| chrony.map(figure);
    // chronyd states 0 for a stratum that it does not know.
    let stratum = chrony.filter(|chrony| chrony.stratum > 0).map(|chrony| f64::from(chrony.stratum));
    vec![
        Family::of_one(
            "clockscope_sync_chrony_correction_seconds",
            "How far the clock is behind true time, in seconds, as chronyd states it.",
            of(|chrony| chrony.correction_s),
        ),
        Family::of_one(
            "clockscope_sync_chrony_error_seconds",
            "Largest error beside the correction, in seconds: half of the root delay, and the root dispersion.",
            of(|chrony| chrony.error_s),
        ),
        Family::of_one(
            "clockscope_sync_chrony_frequency_ratio",
            "Correction of the clock's frequency by chronyd, as a ratio: 0.000001 is 1 ppm.",
            of(|chrony| chrony.freq_ppm / PER_PPM),
        ),
        Family::of_one(
            "clockscope_sync_chrony_skew_ratio",
            "Estimated error of clockscope_sync_chrony_frequency_ratio, as a ratio: 0.000001 is 1 ppm.",
            of(|chrony| chrony.skew_ppm / PER_PPM),
        ),
        Family::of_one(
            "clockscope_sync_chrony_stratum",
            "Number of servers from here to a reference clock, plus one.",
            stratum,
        ),
        Family::of_one(
            "clockscope_sync_chrony_update_interval_seconds",
            "Time between the last two measurements of chronyd's source, in seconds.",
            of(|chrony| chrony.update_interval_s),
        ),
    ]
}

fn of_ptp(clocks: &[PtpClock]) -> [Family; 2] {
    let labels = |clock: &PtpClock| {
        let name = clock.name.as_deref().unwrap_or_default();
        vec![("device", clock.device.as_str().into()), ("name", name.into())]
    };
    // An offset without its bound says nothing.
    let known = |clock: &PtpClock| clock.offset_s.get().zip(clock.bound_s.get());
    let offsets = clocks.iter().map(|clock| Series::of(labels(clock), known(clock).map(|(offset_s, _)| offset_s)));
    let bounds = clocks.iter().map(|clock| Series::of(labels(clock), known(clock).map(|(_, bound_s)| bound_s)));
    [
        Family::new(
            "clockscope_sync_ptp_offset_seconds",
            "How far a PTP hardware clock is ahead of CLOCK_REALTIME, in seconds; one that keeps TAI is ahead by the leap seconds.",
            offsets,
        ),
        Family::new(
            "clockscope_sync_ptp_bound_seconds",
            "Largest possible error of clockscope_sync_ptp_offset_seconds, in seconds.",
            bounds,
        ),
    ]
}
