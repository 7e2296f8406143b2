//! The kernel's word on itself, on its clocksources, and on what it lets this process do.

use std::path::Path;

use clockscope_records::{Figure, Unknown, texts};

use crate::pseudo_files;

const CPUS: &str = "/sys/devices/system/cpu";
const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

/// The clocksource in use.
pub(crate) fn clocksource() -> Figure<String> {
    let name = clockscope_core::os::clocksource().map(|name| name.as_str().to_owned());
    let reason = unread("current_clocksource", name.as_deref());
    Figure::of(name.filter(|name| pseudo_files::is_name_of_words(name)), reason)
}

/// Reason why a file of the clocksource's folder has no answer.
fn unread(file: &str, text: Option<&str>) -> Unknown {
    let path = format!("{CLOCKSOURCE}/{file}");
    match text {
        None if !pseudo_files::ARE_READ => texts::ONLY_LINUX.into(),
        None => format!("{path} cannot be read: is /sys mounted?").into(),
        Some(text) => format!("{path} holds no name of a clocksource: {text:?}").into(),
    }
}

/// The clocksources that could be used.
pub(crate) fn clocksources_available() -> Figure<Vec<String>> {
    if let Some(timecounters) = crate::timecounters::read() {
        return Figure::Known(timecounters.into_iter().map(|one| one.name).collect());
    }
    let line = pseudo_files::line_of(&format!("{CLOCKSOURCE}/available_clocksource"));
    let reason = unread("available_clocksource", line.as_deref());
    let line = line.filter(|line| line.split_ascii_whitespace().all(pseudo_files::is_name));
    let names = line.map(|line| line.split_ascii_whitespace().map(str::to_owned).collect());
    Figure::of(names, reason)
}

/// The frequency governor of the first CPU that this process may use.
pub(crate) fn governor() -> Figure<String> {
    let cpu = clockscope_core::os::allowed_cpus().ok().and_then(|cpus| cpus.first().copied());
    let Some(cpu) = cpu else { return Figure::unknown("the system does not show which CPUs this process may use") };
    let governor = pseudo_files::line_of(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"));
    Figure::of(governor, no_governor())
}

/// Reason why the kernel shows no governor: a root may lack /sys.
fn no_governor() -> Unknown {
    if cfg!(any(target_os = "linux", target_os = "android")) && !Path::new(CPUS).exists() {
        return format!("{CPUS} cannot be read: is /sys mounted?").into();
    }
    texts::NO_CPUFREQ.into()
}

/// Returns true if the counter may be read by this process.
pub(crate) fn counter_readable() -> Figure<bool> {
    let readable = clockscope_core::os::counter_is_permitted();
    Figure::of(readable, "the system does not show it; a read does")
}
