//! Signals that end a run early, with what it has.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result};

/// Has writes fail that would exceed the limit of file sizes (`ulimit -f`). Without a handler,
/// their signal ends the process, which leaves a half-written file. Started programs have the
/// default action again.
#[cfg(unix)]
pub(crate) fn catch_file_limit() {
    let caught = Arc::new(AtomicBool::new(false));
    // Without the handler, the only harm is that file.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, caught);
}

/// Only Unix has such a signal.
#[cfg(not(unix))]
pub(crate) fn catch_file_limit() {}

/// A flag that SIGINT, SIGTERM and SIGHUP set, but a lost terminal where that is to be ignored
/// (nohup). A second of one kind ends the program at once; but not SIGTERM, which timeout(1) sends
/// both to the process and to its group.
#[cfg(unix)]
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    // Elsewhere, nothing shows whether a lost terminal is to be ignored.
    let sees_ignored = cfg!(any(target_os = "linux", target_os = "android"));
    let hangup = Some(SIGHUP).filter(|signal| sees_ignored && !of_users::is_ignored(*signal));
    for signal in [SIGINT, SIGTERM].into_iter().chain(hangup) {
        if signal != SIGTERM {
            let was_seen = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&was_seen))
                .and_then(|_| signal_hook::flag::register(signal, was_seen))
                .context("cannot watch for signals")?;
        }
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot watch for signals")?;
    }
    Ok(stop)
}

/// A flag that Ctrl-C sets; a second one ends the program at once.
#[cfg(windows)]
pub(crate) fn stop_on_signals() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    clockscope_system::stop_on_ctrl_c(Arc::clone(&stop), clockscope_system::SecondCtrlC::Ends)
        .context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// A flag that every signal sets by which a user might end the program, as often as it comes; but a
/// lost terminal, where that is to be ignored (nohup).
#[cfg(unix)]
pub(crate) fn stop_gently() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in of_users::ENDING.iter().copied().filter(|signal| !of_users::is_ignored(*signal)) {
        signal_hook::flag::register(signal, Arc::clone(&stop)).context("cannot watch for signals")?;
    }
    Ok(stop)
}

/// A flag that Ctrl-C sets, as often as it comes. Ctrl-Break, and closing the window, end the
/// program.
#[cfg(windows)]
pub(crate) fn stop_gently() -> Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    clockscope_system::stop_on_ctrl_c(Arc::clone(&stop), clockscope_system::SecondCtrlC::IsIgnored)
        .context("cannot watch for Ctrl-C")?;
    Ok(stop)
}

/// A flag as of [`stop_gently`], which the end of the parent sets as well.
pub(crate) fn stop_with_parent() -> Result<Arc<AtomicBool>> {
    let stop = stop_gently()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))
        .context("cannot watch for the end of the parent")?;
    Ok(stop)
}

/// Signals by which a user might end the program.
#[cfg(unix)]
mod of_users {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU};

    pub(super) const ENDING: &[i32] = &[SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU];

    /// Returns whether the signal is a lost terminal, and the parent has the program ignore that
    /// (proc(5), SigIgn).
    pub(super) fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        signal == SIGHUP && mask.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
    }
}
