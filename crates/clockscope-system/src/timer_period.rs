//! The period of Windows' timer interrupt, requested for a while.

use std::sync::atomic::{AtomicU32, Ordering};

/// A request for a shorter period. It is withdrawn when this is dropped: on a normal end, on an
/// error, and while a panic unwinds. Where the console is closed, its handler withdraws it, and
/// Windows itself withdraws it from a process that ends in another way.
#[derive(Debug)]
pub struct TimerPeriod(());

/// Reason why the timer's period was not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimerPeriodError {
    /// This system has no such request.
    #[error("only Windows lets programs request a period of the timer: leave the option out here")]
    OtherSystem,
    /// The period is not a whole number of ms that the system supports.
    #[error("the timer's period cannot be {requested_us} us: expected whole ms from {least_ms}ms to {most_ms}ms")]
    Range {
        /// The period that was asked for.
        requested_us: u64,
        /// The shortest period.
        least_ms: u32,
        /// The longest one.
        most_ms: u32,
    },
    /// A call failed.
    #[error("{call}: error {code}")]
    Call {
        /// The call.
        call: &'static str,
        /// Its answer.
        code: u32,
    },
    /// There is a request already.
    #[error("this process has requested a period already")]
    Twice,
}

/// The period that is requested now, in ms; 0 for none.
static REQUESTED: AtomicU32 = AtomicU32::new(0);

/// Requests that the timer fire each `requested_us` microseconds, which have to be whole
/// milliseconds.
///
/// # Errors
/// Another system than Windows, a period that it does not support, or a second request.
pub fn request(requested_us: u64) -> Result<TimerPeriod, TimerPeriodError> {
    request_of(&System, &REQUESTED, requested_us)?;
    Ok(TimerPeriod(()))
}

impl Drop for TimerPeriod {
    fn drop(&mut self) {
        withdraw();
    }
}

/// Withdraws the request, if there is one: each is withdrawn once, by whoever comes first, the end
/// of the run or the console's handler.
fn withdraw() {
    withdraw_of(&System, &REQUESTED);
}

/// Ctrl-C in a console (wincon.h, CTRL_C_EVENT).
#[cfg_attr(not(any(windows, test)), allow(dead_code, reason = "only Windows has such consoles"))]
const CTRL_C: u32 = 0;

/// Handles a console's event: closing the window, Ctrl-Break, logging off and shutting down end the
/// process, so that they withdraw the request. After Ctrl-C the run goes on to its end, which does.
#[cfg(windows)]
fn on_console_event(event: u32) {
    withdraw_at(&System, &REQUESTED, event);
}

#[cfg_attr(not(any(windows, test)), allow(dead_code, reason = "only Windows has such consoles"))]
fn withdraw_at(calls: &impl Calls, requested: &AtomicU32, event: u32) {
    if event != CTRL_C {
        withdraw_of(calls, requested);
    }
}

/// The calls of the system.
trait Calls {
    /// The shortest and the longest period, in ms.
    fn range_ms(&self) -> Result<(u32, u32), TimerPeriodError>;
    fn begin(&self, ms: u32) -> Result<(), TimerPeriodError>;
    fn end(&self, ms: u32);
}

fn request_of(calls: &impl Calls, requested: &AtomicU32, requested_us: u64) -> Result<(), TimerPeriodError> {
    let (least_ms, most_ms) = calls.range_ms()?;
    let whole = u32::try_from(requested_us / 1000).ok().filter(|_| requested_us.is_multiple_of(1000));
    let range = TimerPeriodError::Range { requested_us, least_ms, most_ms };
    let ms = whole.filter(|ms| *ms > 0 && (least_ms..=most_ms).contains(ms)).ok_or(range)?;
    // FakeCalls down first: a console that is closed in between withdraws what may have begun.
    requested.compare_exchange(0, ms, Ordering::AcqRel, Ordering::Acquire).map_err(|_| TimerPeriodError::Twice)?;
    calls.begin(ms).inspect_err(|_| requested.store(0, Ordering::Release))
}

fn withdraw_of(calls: &impl Calls, requested: &AtomicU32) {
    match requested.swap(0, Ordering::AcqRel) {
        0 => {}
        ms => calls.end(ms),
    }
}

/// This system.
struct System;

#[cfg(windows)]
impl Calls for System {
    fn range_ms(&self) -> Result<(u32, u32), TimerPeriodError> {
        crate::os::facts::timer::range_ms().map_err(|code| TimerPeriodError::Call { call: "timeGetDevCaps", code })
    }

    fn begin(&self, ms: u32) -> Result<(), TimerPeriodError> {
        crate::os::facts::timer::begin(ms, on_console_event)
            .map_err(|(call, code)| TimerPeriodError::Call { call, code })
    }

    fn end(&self, ms: u32) {
        crate::os::facts::timer::end(ms);
    }
}

#[cfg(not(windows))]
impl Calls for System {
    fn range_ms(&self) -> Result<(u32, u32), TimerPeriodError> {
        Err(TimerPeriodError::OtherSystem)
    }

    fn begin(&self, _: u32) -> Result<(), TimerPeriodError> {
        Err(TimerPeriodError::OtherSystem)
    }

    fn end(&self, _: u32) {}
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    /// A Windows that notes down what it is asked for.
    #[derive(Default)]
    struct FakeCalls {
        calls: RefCell<Vec<(&'static str, u32)>>,
        refuses: bool,
    }

    impl Calls for FakeCalls {
        fn range_ms(&self) -> Result<(u32, u32), TimerPeriodError> {
            Ok((1, 1000))
        }

        fn begin(&self, ms: u32) -> Result<(), TimerPeriodError> {
            self.calls.borrow_mut().push(("begin", ms));
            if self.refuses { Err(TimerPeriodError::Call { call: "timeBeginPeriod", code: 97 }) } else { Ok(()) }
        }

        fn end(&self, ms: u32) {
            self.calls.borrow_mut().push(("end", ms));
        }
    }

    /// As `TimerPeriod` does with the real calls.
    struct Guard<'a>(&'a FakeCalls, &'a AtomicU32);

    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            withdraw_of(self.0, self.1);
        }
    }

    #[test]
    fn a_request_is_withdrawn_once_and_with_the_same_period() {
        let (system, requested) = (FakeCalls::default(), AtomicU32::new(0));
        request_of(&system, &requested, 2000).unwrap();
        assert_eq!(request_of(&system, &requested, 1000), Err(TimerPeriodError::Twice));
        // The console is closed, and then the guard is dropped.
        withdraw_of(&system, &requested);
        withdraw_of(&system, &requested);
        assert_eq!(*system.calls.borrow(), [("begin", 2), ("end", 2)]);
        request_of(&system, &requested, 1000).unwrap();
    }

    /// Events of wincon.h: what ends the process withdraws the request, once, and Ctrl-C does not.
    #[test]
    fn an_event_that_ends_the_process_withdraws_it_once() {
        const CTRL_BREAK: u32 = 1;
        const CLOSE: u32 = 2;
        const LOGOFF: u32 = 5;
        const SHUTDOWN: u32 = 6;
        for event in [CTRL_BREAK, CLOSE, LOGOFF, SHUTDOWN] {
            let (system, requested) = (FakeCalls::default(), AtomicU32::new(0));
            // Nothing was requested yet.
            withdraw_at(&system, &requested, event);
            request_of(&system, &requested, 3000).unwrap();
            withdraw_at(&system, &requested, CTRL_C);
            assert_eq!(*system.calls.borrow(), [("begin", 3)], "{event}");
            withdraw_at(&system, &requested, event);
            assert_eq!(*system.calls.borrow(), [("begin", 3), ("end", 3)], "{event}");
            // Windows may report one more before the process is gone, and the guard may be dropped.
            withdraw_at(&system, &requested, SHUTDOWN);
            drop(Guard(&system, &requested));
            assert_eq!(*system.calls.borrow(), [("begin", 3), ("end", 3)], "{event}");
        }
    }

    #[test]
    fn a_panic_withdraws_it() {
        let (system, requested) = (FakeCalls::default(), AtomicU32::new(0));
        let ended = catch_unwind(AssertUnwindSafe(|| {
            request_of(&system, &requested, 1000).unwrap();
            let _guard = Guard(&system, &requested);
            panic!("during the run");
        }));
        assert!(ended.is_err());
        assert_eq!(*system.calls.borrow(), [("begin", 1), ("end", 1)]);
    }

    #[test]
    fn a_period_that_the_system_lacks_is_refused_before_anything_is_changed() {
        let (system, requested) = (FakeCalls::default(), AtomicU32::new(0));
        for requested_us in [0, 500, 1500, 1_001_000, u64::MAX] {
            let refused = request_of(&system, &requested, requested_us).unwrap_err();
            assert_eq!(refused, TimerPeriodError::Range { requested_us, least_ms: 1, most_ms: 1000 });
        }
        assert!(system.calls.borrow().is_empty());
    }

    #[test]
    fn what_was_not_begun_is_not_ended() {
        let (system, requested) = (FakeCalls { refuses: true, ..FakeCalls::default() }, AtomicU32::new(0));
        assert!(request_of(&system, &requested, 1000).is_err());
        withdraw_of(&system, &requested);
        assert_eq!(*system.calls.borrow(), [("begin", 1)]);
    }

    #[test]
    #[cfg(not(windows))]
    fn other_systems_have_no_such_request() {
        assert_eq!(request(1000).map(drop), Err(TimerPeriodError::OtherSystem));
        assert!(TimerPeriodError::OtherSystem.to_string().contains("only Windows"));
    }
}
