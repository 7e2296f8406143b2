//! What holds the clocksource switched, in words.

use clockscope_records::{Clocksources, ClocksourcesProse, Holder};

/// Puts the words beside the run that has the clocksource switched.
pub(crate) fn explain(found: &mut Clocksources) {
    found.prose = Some(ClocksourcesProse { held: found.holder.as_ref().map(held) });
}

/// Words the run that has the clocksource switched, and what to do.
pub(crate) fn held(holder: &Holder) -> String {
    match holder {
        Holder::Process { pid } => {
            let process = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
            format!("{process} has switched the clocksource and will put it back: wait until it has ended")
        }
        Holder::OtherUser { marker } => {
            format!(
                "another user's run has switched the clocksource and not put it back yet ({marker}): ask as that \
                 user, or as root"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_named_with_what_to_do() {
        for (holder, start, end) in [
            (Holder::Process { pid: Some(4711) }, "process 4711 has switched", "wait until it has ended"),
            (Holder::Process { pid: None }, "another process has switched", "wait until it has ended"),
            (
                Holder::OtherUser { marker: "/run/x".to_owned() },
                "another user's run",
                "(/run/x): ask as that user, or as root",
            ),
        ] {
            let held = held(&holder);
            assert!(held.starts_with(start) && held.ends_with(end), "{held}");
        }
    }
}
