//! The error of civil time in words.

use crate::{Check, CivilWorth};

/// Returns the remedy.
pub(crate) fn remedy(check: &Check) -> &'static str {
    match check {
        Check::Synchronization {
            shows_utc: true,
            worth: Some(CivilWorth::Trusted | CivilWorth::WhileNotSlewing),
            ..
        } => "use realtime, or have the daemon set TAI - UTC in the kernel (chronyd: leapsectz, ntpd: leapfile)",
        Check::Synchronization { worth: Some(CivilWorth::Slewing), .. } => {
            "for durations use monotonic_raw, because this clock is being corrected; for civil time wait until it has been"
        }
        _ => {
            "for durations use monotonic, because this clock can be set; for civil time have a daemon keep it that states its \
             error (chronyd, ntpd)"
        }
    }
}

/// Says how far civil time is off, and by whose statement.
pub(super) fn text(check: &Check) -> String {
    let Check::Synchronization { answered, worth, error_s, stated_error_s, shows_utc } = check else {
        return String::new();
    };
    if !answered {
        return "the kernel cannot be asked".to_owned();
    }
    let civil = civil(*worth, *error_s, *stated_error_s);
    let tai = "the kernel does not know TAI - UTC, so that this clock shows UTC";
    match worth {
        _ if !shows_utc => civil,
        Some(CivilWorth::Trusted | CivilWorth::WhileNotSlewing) => tai.to_owned(),
        _ => format!("{civil}; {tai}"),
    }
}

fn civil(worth: Option<CivilWorth>, error_s: Option<f64>, stated_error_s: Option<f64>) -> String {
    let unknown = |why: &str| format!("civil time unknown: {why}");
    match (worth, error_s) {
        (Some(CivilWorth::Trusted), Some(s)) => format!("civil time is right within {s:.6} s"),
        (Some(CivilWorth::WhileNotSlewing), Some(s)) => {
            format!("civil time is right within {s:.6} s, unless its daemon is correcting it by the rate")
        }
        (Some(CivilWorth::Slewing), _) => {
            unknown("it is being corrected by the clock's rate, and how much is left is not known")
        }
        (Some(CivilWorth::Worthless), _) => unknown(
            "the daemon that keeps it states no error: it sets that to zero, as timesyncd and phc2sys do, or has only begun",
        ),
        (Some(CivilWorth::Unsynchronized), _) => {
            let stated = |s: f64| format!(" (off by up to {s:.0} s by the kernel's own statement)");
            let stated = stated_error_s.filter(|s| *s >= 1.0).map_or_else(String::new, stated);
            unknown(&format!("no daemon synchronizes it{stated}"))
        }
        _ => unknown("what its stated error is worth is not known"),
    }
}

/// Words how well civil time is known, briefly.
pub(crate) fn brief(check: &Check) -> String {
    let Check::Synchronization { answered: true, worth, error_s, shows_utc, .. } = check else {
        return "the kernel does not say whether it is synchronized".to_owned();
    };
    match (worth, error_s) {
        (Some(CivilWorth::Unsynchronized), _) => "no daemon synchronizes it".to_owned(),
        (Some(CivilWorth::Slewing), _) => "it is being corrected".to_owned(),
        (Some(CivilWorth::Worthless), _) => "its daemon states no error".to_owned(),
        _ if *shows_utc => "it shows UTC, not TAI".to_owned(),
        (Some(_), Some(s)) => format!("civil time within {s:.6} s"),
        _ => "its stated error may be worth nothing".to_owned(),
    }
}
