//! The metrics of the synchronization of the time of day.

use clockscope_records::{Adjtimex, ChronyTracking, EvidenceData, PtpClock, Synchronization, Verdict, WallState};

use super::exposition::{Family, PER_NS, PER_PPM, PER_US, Series};

/// Returns the metrics of the time of day. Older records have no object `synchronization`, but
/// evidence.
pub(super) fn families(verdicts: &[Verdict], found: Option<&Synchronization>) -> Vec<Family> {
    let mut families = time_of_day_families(verdicts, found.and_then(|found| found.adjtimex.known()));
    if let Some(Synchronization { adjtimex, chrony, ptp, .. }) = found {
        families.extend(adjtimex.known().into_iter().flat_map(of_kernel));
        families.extend(chrony.known().into_iter().flat_map(of_chrony));
        families.extend(of_ptp(ptp));
    }
    families
}

/// The error of the time of day, and its state.
fn time_of_day_families(verdicts: &[Verdict], kernel: Option<&Adjtimex>) -> Vec<Family> {
    let evidence = verdicts.iter().flat_map(|verdict| &verdict.evidence);
    let (mut state, mut error_s) = kernel.map_or((None, None), |kernel| (kernel.state, kernel.time_of_day_error_s));
    for evidence in evidence {
        if let EvidenceData::Synchronization(check) = &evidence.data {
            (state, error_s) = (state.or(check.state), check.daemon_error_s.or(error_s).or(check.error_s));
        }
    }
    let labels = vec![("state", state.map_or("", WallState::as_str).into())];
    vec![
        Family::of_one(
            "clockscope_sync_error_seconds",
            "Largest error of the time of day in seconds; absent if nothing states a usable one.",
            error_s,
        ),
        Family::new(
            "clockscope_sync_state",
            "1 for the state of the time of day, which the label state names.",
            [Series::new(labels, state.map(|_| 1.0))],
        ),
    ]
}

fn of_kernel(kernel: &Adjtimex) -> Vec<Family> {
    let [unsynchronized, inserted, deleted] =
        ["unsync", "ins", "del"].map(|flag| f64::from(u8::from(kernel.status.iter().any(|status| status == flag))));
    vec![
        Family::of_one(
            "clockscope_sync_synchronized",
            "1 if a time daemon states to the kernel that its clock is right, otherwise 0.",
            Some(1.0 - unsynchronized),
        ),
        Family::of_one(
            "clockscope_sync_kernel_offset_seconds",
            "Part of the error of its clock that the kernel has still to correct, in seconds.",
            Some(kernel.offset_ns as f64 / PER_NS),
        ),
        Family::of_one(
            "clockscope_sync_kernel_max_error_seconds",
            "Largest error of its clock that the kernel states, in seconds.",
            Some(kernel.maxerror_us as f64 / PER_US),
        ),
        Family::of_one(
            "clockscope_sync_kernel_estimated_error_seconds",
            "Error of its clock that the kernel estimates, in seconds.",
            Some(kernel.esterror_us as f64 / PER_US),
        ),
        Family::of_one(
            "clockscope_sync_kernel_frequency_ratio",
            "Correction of the frequency of the kernel's clock, as a ratio: 0.000001 is 1 ppm.",
            Some(kernel.freq_ppm / PER_PPM),
        ),
        Family::of_one(
            "clockscope_sync_leap_seconds",
            "Announced leap second, in seconds: 1 is to be inserted, -1 is to be left out, 0 is none.",
            Some(inserted - deleted),
        ),
    ]
}

fn of_chrony(chrony: &ChronyTracking) -> Vec<Family> {
    vec![
        Family::of_one(
            "clockscope_sync_chrony_correction_seconds",
            "How far the clock is behind true time, in seconds, as chronyd states it.",
            Some(chrony.correction_s),
        ),
        Family::of_one(
            "clockscope_sync_chrony_error_seconds",
            "Largest error beside the correction, in seconds: half of the root delay, and the root dispersion.",
            Some(chrony.error_s),
        ),
        Family::of_one(
            "clockscope_sync_chrony_frequency_ratio",
            "Correction of the clock's frequency by chronyd, as a ratio: 0.000001 is 1 ppm.",
            Some(chrony.freq_ppm / PER_PPM),
        ),
        Family::of_one(
            "clockscope_sync_chrony_skew_ratio",
            "Estimated error of clockscope_sync_chrony_frequency_ratio, as a ratio: 0.000001 is 1 ppm.",
            Some(chrony.skew_ppm / PER_PPM),
        ),
        Family::of_one(
            "clockscope_sync_chrony_stratum",
            "Number of servers from here to a reference clock, plus one.",
            // chronyd states 0 for a stratum that it does not know.
            if chrony.stratum > 0 { Some(f64::from(chrony.stratum)) } else { None },
        ),
        Family::of_one(
            "clockscope_sync_chrony_update_interval_seconds",
            "Time between the last two measurements of chronyd's source, in seconds.",
            Some(chrony.update_interval_s),
        ),
    ]
}

fn of_ptp(clocks: &[PtpClock]) -> [Family; 2] {
    let (mut offsets, mut bounds) = (Vec::new(), Vec::new());
    for clock in clocks {
        // An offset without its bound is useless.
        if let (Some(offset_s), Some(bound_s)) = (clock.offset_s.get(), clock.bound_s.get()) {
            let name = clock.name.as_deref().unwrap_or_default();
            let labels = vec![("device", clock.device.as_str().into()), ("name", name.into())];
            offsets.push(Series::new(labels.clone(), Some(offset_s)));
            bounds.push(Series::new(labels, Some(bound_s)));
        }
    }
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
