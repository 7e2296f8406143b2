//! Ctrl-C of a console. Not by the C runtime's signals: Wine's lacks a part of them.

#![allow(unsafe_code, reason = "the system is given a function of ours")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use windows_sys::Win32::System::Console::{CTRL_C_EVENT, SetConsoleCtrlHandler};

use clockscope_core::Errno;

/// Effect of a second Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondCtrlC {
    /// It ends the program at once.
    Ends,
    /// It has no further effect.
    IsIgnored,
}

/// The flag that Ctrl-C sets.
static HANDLER: Mutex<Option<(Arc<AtomicBool>, SecondCtrlC)>> = Mutex::new(None);

/// Has Ctrl-C set a flag instead of ending the program. The last flag counts.
///
/// # Errors
/// The system refuses.
pub fn stop_on_ctrl_c(flag: Arc<AtomicBool>, second: SecondCtrlC) -> Result<(), Errno> {
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = Some((flag, second));
    // SAFETY: the handler is a function of the program, and stays loaded; it may be set twice.
    if unsafe { SetConsoleCtrlHandler(Some(on_event), 1) } != 0 { Ok(()) } else { Err(Errno::last()) }
}

/// Runs in a thread of the system's. Everything but Ctrl-C is for the next handler.
unsafe extern "system" fn on_event(event: u32) -> i32 {
    let handler = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
    handler.as_ref().filter(|_| event == CTRL_C_EVENT).is_some_and(|(flag, second)| is_taken(flag, *second)).into()
}

/// Sets the flag; returns whether the program goes on.
fn is_taken(flag: &AtomicBool, second: SecondCtrlC) -> bool {
    !flag.swap(true, Ordering::Relaxed) || second == SecondCtrlC::IsIgnored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_ctrl_c_ends_what_does_not_stop() {
        for (second, goes_on) in [(SecondCtrlC::Ends, false), (SecondCtrlC::IsIgnored, true)] {
            let flag = AtomicBool::new(false);
            assert!(is_taken(&flag, second) && flag.load(Ordering::Relaxed));
            assert_eq!(is_taken(&flag, second), goes_on);
        }
    }
}
