//! Rates and jumps in words: what was found beside a second clock.

use clockscope_core::evidence::FrequencyOffset;

use super::super::{CheckEvidence, EvidenceData, RateChange, ReferenceProblem};
use crate::Finding;
use crate::units::time;
use crate::{counted, grouped};

const REFERENCE_CHANGED: &str =
    "the clock that it was compared with changed against all others, and they did not against each other";

/// A clock that is computed from the same counter as the one that it is compared with shows that
/// both paths agree, and nothing about the oscillator.
fn consistent(found: &str, reference_shares_hardware: Option<bool>) -> String {
    let mark = if reference_shares_hardware == Some(true) { "consistent (same counter): " } else { "" };
    format!("{mark}{found}")
}

/// Steps ahead of a second clock, and behind it.
pub(super) fn jumps(evidence: &CheckEvidence) -> String {
    let EvidenceData::Jumps {
        ahead: Some(ahead),
        behind,
        readings,
        reference,
        reference_problem: why,
        reference_shares_hardware,
        ..
    } = &evidence.data
    else {
        return String::new();
    };
    let reference = reference.as_deref().unwrap_or("another clock");
    let behind = behind.map_or_else(String::new, |behind| format!(" and {} behind it", grouped(behind)));
    let why = why.map_or_else(String::new, |why| format!("; {}", why.text()));
    let ahead = counted(*ahead, "step");
    let found = format!("{ahead} ahead of {reference}{behind} in {} readings{why}", grouped(*readings));
    let is_for = evidence.finding == Finding::For;
    consistent(&found, reference_shares_hardware.filter(|_| is_for))
}

/// The frequency offset from a second clock.
pub(super) fn rate(evidence: &CheckEvidence) -> String {
    let EvidenceData::Rate {
        ppm, bound_ppm, reference, lasting_ppm, constant, reference_shares_hardware, reason, ..
    } = &evidence.data
    else {
        return String::new();
    };
    let Some((ppm, bound_ppm)) = ppm.zip(*bound_ppm) else {
        return reason.as_ref().map_or_else(|| "it was not compared".to_owned(), ToString::to_string);
    };
    let changing = if *constant == Some(false) { ", and changes" } else { "" };
    let reference = reference.as_deref().unwrap_or("another clock");
    let lasting = lasting_ppm.map_or_else(String::new, |lasting| {
        format!(
            "; a time daemon corrects the frequency of {reference} by {lasting:+.3} ppm for good, since it is wrong"
        )
    });
    let found = format!("it runs by {} against {reference}{changing}{lasting}", FrequencyOffset { ppm, bound_ppm });
    consistent(&found, reference_shares_hardware.filter(|_| evidence.finding == Finding::For))
}

/// The nominal frequency, where a daemon corrects the kernel's clock for good.
pub(super) fn wrong_frequency(data: &EvidenceData, lasting_ppm: f64) -> String {
    let daemon = format!("a time daemon corrects the kernel's clock by {lasting_ppm:+.3} ppm for good");
    match data {
        EvidenceData::NominalFrequency { nominal_hz: Some(hz), ppm: Some(ppm), bound_ppm: Some(bound_ppm), .. } => {
            let offset = FrequencyOffset { ppm: *ppm, bound_ppm: *bound_ppm };
            format!("{:.6} MHz is stated, {offset} from what was measured: {daemon}", hz / 1e6)
        }
        _ => format!("{daemon}, so that the frequency that it takes the counter to have is wrong"),
    }
}

/// Says whether its rate was constant.
pub(super) fn constant_rate(evidence: &CheckEvidence) -> String {
    let EvidenceData::ConstantRate {
        reference,
        brackets,
        seconds,
        change,
        reference_problem: why,
        reason,
        reference_shares_hardware,
        ..
    } = &evidence.data
    else {
        return String::new();
    };
    let against = reference.as_deref().unwrap_or("another clock");
    match (change, why, reason) {
        (Some(RateChange::Step { at_s, step_ns }), ..) => {
            format!("it stepped by at least {} against {against} at {at_s:.3} s", time(*step_ns))
        }
        (Some(RateChange::Once { from_s, until_s }), ..) => {
            format!("its rate against {against} changed between {from_s:.3} s and {until_s:.3} s")
        }
        (Some(RateChange::Unexplained), ..) => format!("no rate explains what was seen against {against}"),
        (Some(RateChange::OtherMean { measured_hz, mean_hz }), ..) => format!(
            "it ran at {:.6} MHz during the measurement, and at {:.6} MHz on average: its rate changed, or it stepped",
            measured_hz / 1e6,
            mean_hz / 1e6
        ),
        (Some(RateChange::WentBack), ..) => {
            "it stood still, or went back behind where it was when the check began".to_owned()
        }
        (Some(RateChange::AgainstAll), ..) => {
            "all other clocks changed against it, and not against each other".to_owned()
        }
        (None, Some(why), _) => why.text().to_owned(),
        (None, None, Some(why)) => why.to_string(),
        (None, None, None) if evidence.finding == Finding::For => {
            let over = seconds.unwrap_or(0.0);
            let found = format!("one rate explains {} by {against} in {over:.1} s", counted(*brackets, "bracket"));
            consistent(&found, *reference_shares_hardware)
        }
        (None, None, None) if reference.is_none() => "the counter was not compared".to_owned(),
        (None, None, None) => "it was not compared".to_owned(),
    }
}

impl ReferenceProblem {
    /// Says why a second clock cannot judge this one.
    const fn text(self) -> &'static str {
        match self {
            Self::TimerTick => "the kernel's clock is moved by the timer tick, which may be late or lost",
            Self::ReferenceChanged => REFERENCE_CHANGED,
            Self::CounterUnfit => "the counter, which it was judged by, is unfit",
            Self::SeenOnce => "a single jump, seen against the counter alone, may be either one's",
        }
    }
}
