//! The kernel's word on itself, on its clocksources, and on what it lets this process do.

#![allow(unsafe_code, reason = "uname and the auxiliary vector have no safe form in libc")]

use clockscope_records::{Figure, Kernel, Unknown, texts};

use crate::text;

const CLOCKSOURCE: &str = "/sys/devices/system/clocksource/clocksource0";

#[cfg(windows)]
pub(crate) fn identity() -> Kernel {
    Kernel {
        name: Figure::Known("Windows".to_owned()),
        release: Figure::of(crate::os::windows::version(), crate::os::windows::failed("RtlGetVersion")),
        version: Figure::unknown("Windows states no text of its build"),
    }
}

#[cfg(not(windows))]
pub(crate) fn identity() -> Kernel {
    let names = uname().map_or([const { None }; 3], |names| names.map(Some));
    let [name, release, version] = names.map(|name| Figure::of(name, "the system has no uname"));
    Kernel { name, release, version }
}

/// Name, release and version (uname(2)).
#[cfg(unix)]
fn uname() -> Option<[String; 3]> {
    let mut names = core::mem::MaybeUninit::<libc::utsname>::zeroed();
    // SAFETY: uname fills the structure that it is given, of which all-zero is a value.
    let (answer, names) = unsafe { (libc::uname(names.as_mut_ptr()), names.assume_init()) };
    let text = |field: &[libc::c_char]| {
        let bytes: Vec<u8> = field.iter().map(|byte| *byte as u8).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    (answer == 0).then(|| [text(&names.sysname), text(&names.release), text(&names.version)])
}

#[cfg(not(any(unix, windows)))]
fn uname() -> Option<[String; 3]> {
    None
}

/// The clocksource in use.
pub(crate) fn clocksource() -> Figure<String> {
    let name = clockscope_core::os::clocksource().map(|name| name.as_str().to_owned());
    let reason = unread("current_clocksource", name.as_deref());
    Figure::of(name.filter(|name| text::is_name_of_words(name)), reason)
}

/// Reason why a file of the clocksource's folder says nothing.
fn unread(file: &str, text: Option<&str>) -> Unknown {
    let path = format!("{CLOCKSOURCE}/{file}");
    match text {
        None if !cfg!(any(target_os = "linux", target_os = "android")) => texts::ONLY_LINUX.into(),
        None => format!("{path} cannot be read: is /sys mounted?").into(),
        Some(text) => format!("{path} holds no name of a clocksource: {text:?}").into(),
    }
}

/// The clocksources that could be used.
pub(crate) fn clocksources_available() -> Figure<Vec<String>> {
    if let Some(timecounters) = crate::timecounters::read() {
        return Figure::Known(timecounters.into_iter().map(|one| one.name).collect());
    }
    let line = text::line_of(&format!("{CLOCKSOURCE}/available_clocksource"));
    let reason = unread("available_clocksource", line.as_deref());
    let line = line.filter(|line| line.split_ascii_whitespace().all(text::is_name));
    let names = line.map(|line| line.split_ascii_whitespace().map(str::to_owned).collect());
    Figure::of(names, reason)
}

/// The frequency governor of the first CPU that this process may use.
pub(crate) fn governor() -> Figure<String> {
    let governor = |cpu| text::line_of(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor"));
    let cpu = clockscope_core::os::allowed_cpus().ok().and_then(|cpus| cpus.first().copied());
    match cpu {
        None => Figure::unknown("the system does not show which CPUs this process may use"),
        Some(cpu) => Figure::of(governor(cpu), texts::NO_CPUFREQ),
    }
}

/// Returns true if the kernel mapped a vDSO (getauxval(3), AT_SYSINFO_EHDR).
#[cfg(target_os = "linux")]
pub(crate) fn vdso() -> Figure<bool> {
    // SAFETY: getauxval takes any number and answers 0 for an entry that is not there.
    Figure::Known(unsafe { libc::getauxval(libc::AT_SYSINFO_EHDR) } != 0)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn vdso() -> Figure<bool> {
    Figure::unknown("only Linux has a vDSO")
}

/// Returns true if the counter may be read by this process.
pub(crate) fn counter_readable() -> Figure<bool> {
    let readable = clockscope_core::os::counter_is_permitted();
    Figure::of(readable, "the system does not show it; a read does")
}
