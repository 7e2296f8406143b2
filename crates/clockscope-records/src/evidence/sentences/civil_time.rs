//! The error of civil time in words.

use crate::{CivilState, EvidenceData};

/// Returns the remedy.
pub(crate) fn remedy(check: &EvidenceData) -> &'static str {
    match check {
        EvidenceData::Synchronization {
            shows_utc: true,
            state: Some(CivilState::Synchronized | CivilState::WhileNotSlewing),
            ..
        } => "use realtime, or have the daemon set TAI - UTC in the kernel (chronyd: leapsectz, ntpd: leapfile)",
        EvidenceData::Synchronization { state: Some(CivilState::Slewing), .. } => {
            "for durations use monotonic_raw, because this clock is being corrected; for civil time wait until it has been"
        }
        _ => {
            "for durations use monotonic, because this clock can be set; for civil time have a daemon keep it that states its \
             error (chronyd, ntpd)"
        }
    }
}

/// Says how far civil time is off, and by whose statement.
pub(super) fn text(check: &EvidenceData) -> String {
    let EvidenceData::Synchronization { answered, state, error_s, daemon_error_s, reported_error_s, shows_utc } = check
    else {
        return String::new();
    };
    let civil = match (daemon_error_s, answered) {
        (Some(s), true) => format!("civil time is right within {s:.6} s, as chronyd states; {}", beside(*state)),
        (Some(s), false) => format!("civil time is right within {s:.6} s, as chronyd states"),
        (None, true) => civil(*state, *error_s, *reported_error_s),
        (None, false) => return "the kernel cannot be asked".to_owned(),
    };
    let tai = "the kernel does not know TAI - UTC, so that this clock shows UTC";
    match state {
        _ if !shows_utc => civil,
        Some(CivilState::Synchronized | CivilState::WhileNotSlewing) => tai.to_owned(),
        _ => format!("{civil}; {tai}"),
    }
}

/// Says what the kernel states beside a daemon that has answered.
fn beside(state: Option<CivilState>) -> &'static str {
    match state {
        Some(CivilState::Synchronized) => "the kernel agrees that it is synchronized",
        Some(CivilState::WhileNotSlewing) => "the kernel agrees, unless a daemon corrects it by the rate",
        Some(CivilState::LeapSecond) => "the kernel says that a leap second is near",
        Some(CivilState::Slewing) => "the kernel says that it is being corrected",
        Some(CivilState::Unsynchronized) => "the kernel's flag still says that no daemon synchronizes it",
        _ => "the kernel has no error that is worth anything",
    }
}

fn civil(state: Option<CivilState>, error_s: Option<f64>, reported_error_s: Option<f64>) -> String {
    let unknown = |why: &str| format!("civil time unknown: {why}");
    match (state, error_s) {
        (Some(CivilState::Synchronized), Some(s)) => format!("civil time is right within {s:.6} s"),
        (Some(CivilState::WhileNotSlewing), Some(s)) => {
            format!("civil time is right within {s:.6} s, unless its daemon is correcting it by the rate")
        }
        (Some(CivilState::Slewing), _) => {
            unknown("it is being corrected by the clock's rate, and how much is left is not known")
        }
        (Some(CivilState::Worthless), _) => unknown(
            "the daemon that keeps it states no error: it sets that to zero, as timesyncd and phc2sys do, or has only begun",
        ),
        (Some(CivilState::Unsynchronized), _) => {
            let reported = |s: f64| format!(" (off by up to {s:.0} s by the kernel's own statement)");
            let reported = reported_error_s.filter(|s| *s >= 1.0).map_or_else(String::new, reported);
            unknown(&format!("no daemon synchronizes it{reported}"))
        }
        _ => unknown("the quality of its stated error is unknown"),
    }
}

/// Words how well civil time is known, briefly.
pub(crate) fn brief(check: &EvidenceData) -> String {
    let EvidenceData::Synchronization { answered: true, state, error_s, daemon_error_s, shows_utc, .. } = check else {
        return "the kernel does not say whether it is synchronized".to_owned();
    };
    if let Some(s) = daemon_error_s.filter(|_| !shows_utc) {
        return format!("civil time within {s:.6} s");
    }
    match (state, error_s) {
        (Some(CivilState::Unsynchronized), _) => "no daemon synchronizes it".to_owned(),
        (Some(CivilState::Slewing), _) => "it is being corrected".to_owned(),
        (Some(CivilState::Worthless), _) => "its daemon states no error".to_owned(),
        _ if *shows_utc => "it shows UTC, not TAI".to_owned(),
        (Some(_), Some(s)) => format!("civil time within {s:.6} s"),
        _ => "its stated error may be worth nothing".to_owned(),
    }
}
