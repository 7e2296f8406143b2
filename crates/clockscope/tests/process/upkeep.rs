//! An upkeep and its handles in forked children, which have no thread of its own.

use std::time::Duration;

use clockscope::{Instant, Recent, Upkeep};

use super::{in_a_process, monotonic_by_syscall};

/// A way to make a child with memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// fork(3), of the C library.
    Fork,
    /// clone(2) without the C library: the child may neither allocate nor start threads.
    RawClone,
}

/// Findings of a child: its exit status.
const FINE: libc::c_int = 0;
const IS_RUNNING: libc::c_int = 1;
const STUCK: libc::c_int = 2;
const WENT_BACK: libc::c_int = 3;
const NOT_STARTED: libc::c_int = 4;
const MOVED_ON: libc::c_int = 5;

/// Makes a child that runs `body` and ends with what that says, and waits for it.
fn child(way: Way, body: impl FnOnce() -> libc::c_int) -> libc::c_int {
    // SAFETY: the child runs `body` and ends. One that the C library does not know of reads clocks,
    // frees nothing and takes no lock.
    let child = unsafe {
        match way {
            Way::Fork => libc::fork(),
            Way::RawClone => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t,
        }
    };
    if child == 0 {
        let outcome = body();
        // SAFETY: ends the child.
        unsafe { libc::_exit(outcome) };
    }
    assert!(child > 0, "{way:?}: {}", std::io::Error::last_os_error());
    let mut status = 0;
    // SAFETY: the kernel writes the status of our child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, libc::__WALL) }, child);
    assert!(libc::WIFEXITED(status), "{way:?}: a child ended with {status:#x}");
    libc::WEXITSTATUS(status)
}

/// Reads recent times until one passes a later moment; none goes back on the way there from
/// `least`.
fn goes_on(recent: &Recent, least: Instant) -> Result<Instant, libc::c_int> {
    let mut last = least;
    // Some thousand times as many readings as a quiet machine needs. On a busy one the upkeep's
    // thread may wait for a CPU longer than they take: they leave theirs to it again and again.
    for reading in 0..50_000_000 {
        if reading % 1000 == 0 {
            std::thread::yield_now();
        }
        let time = recent.recent();
        if time < last {
            return Err(WENT_BACK);
        }
        if time.saturating_duration_since(least) > Duration::from_millis(1) {
            return Ok(time);
        }
        last = time;
    }
    Err(STUCK)
}

/// A child, or a grandchild, in which the thread of `upkeep` does not run.
fn without_the_thread(upkeep: &mut Option<Upkeep>, handle: &Recent, least: Instant) -> libc::c_int {
    if handle.is_running() || upkeep.as_ref().is_some_and(Upkeep::is_running) {
        return IS_RUNNING;
    }
    let last = match goes_on(handle, least) {
        Ok(last) => last,
        Err(wrong) => return wrong,
    };
    if upkeep.as_ref().is_some_and(|upkeep| upkeep.recent() < last) {
        return WENT_BACK;
    }
    // Comes back, and does nothing to the parent's thread.
    drop(upkeep.take());
    goes_on(handle, last).map_or_else(|wrong| wrong, |_| FINE)
}

/// A child that starts an upkeep of its own, and has a child itself.
fn with_a_thread_of_its_own(old: &Recent) -> libc::c_int {
    let Ok(own) = Upkeep::start(Duration::from_micros(100)) else { return NOT_STARTED };
    let handle = own.handle();
    let least = own.recent();
    if !own.is_running() || !handle.is_running() || old.is_running() {
        return IS_RUNNING;
    }
    if let Err(wrong) = goes_on(&handle, least) {
        return wrong;
    }
    let least = own.recent();
    let mut own = Some(own);
    let grandchild = child(Way::Fork, || without_the_thread(&mut own, &handle, least));
    if grandchild != FINE {
        return grandchild;
    }
    if !handle.is_running() {
        return NOT_STARTED;
    }
    // The thread is joined; its last time is held.
    drop(own);
    let last = handle.recent();
    let later = monotonic_by_syscall() + 2_000_000;
    while monotonic_by_syscall() < later {}
    if handle.is_running() {
        IS_RUNNING
    } else if handle.recent() == last {
        FINE
    } else {
        MOVED_ON
    }
}

#[test]
fn a_recent_time_goes_on_in_every_child() {
    let status = in_a_process(here!(a_recent_time_goes_on_in_every_child), &[], || {
        let mut upkeep = Some(Upkeep::start(Duration::from_micros(100)).unwrap());
        let handle = upkeep.as_ref().unwrap().handle();
        for way in [Way::Fork, Way::RawClone] {
            for _ in 0..20 {
                let least = handle.recent();
                assert_eq!(child(way, || without_the_thread(&mut upkeep, &handle, least)), FINE, "{way:?}");
                let of_a_child = || child(way, || without_the_thread(&mut upkeep, &handle, least));
                assert_eq!(child(way, of_a_child), FINE, "{way:?}: a grandchild");
                // The parent's is as it was.
                assert!(handle.is_running() && upkeep.as_ref().unwrap().is_running());
                goes_on(&handle, least).unwrap();
            }
        }
        drop(upkeep);
        assert!(!handle.is_running());
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_child_starts_an_upkeep_of_its_own() {
    let status = in_a_process(here!(a_child_starts_an_upkeep_of_its_own), &[], || {
        let upkeep = Upkeep::start(Duration::from_micros(100)).unwrap();
        let handle = upkeep.handle();
        for _ in 0..20 {
            assert_eq!(child(Way::Fork, || with_a_thread_of_its_own(&handle)), FINE);
            assert!(upkeep.is_running());
            goes_on(&handle, handle.recent()).unwrap();
        }
    });
    assert!(status.success(), "{status}");
}
