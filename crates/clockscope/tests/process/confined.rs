//! The process may not make system calls, by a filter or because there is nothing left to make them
//! with.

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use clockscope::stamps;
use clockscope::{Instant, Source, Upkeep, boot, bounded, wall};

use clockscope_testing::skip;

use super::{ALLOCATIONS, assert_right, deny, disable_counter, in_a_process, install, is_usable, read, settle};

/// The clock that is then served is not monotonic, and says so.
#[test]
fn a_filter_that_denies_the_clock() {
    let status = in_a_process(here!(a_filter_that_denies_the_clock), &[], || {
        disable_counter();
        deny(&[libc::SYS_clock_gettime, libc::SYS_clock_getres]);
        read(1000);
        assert_eq!(clockscope::source(), Source::OsClock);
        assert!(!clockscope::is_high_resolution());
        let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
        // SAFETY: the kernel writes the timeval.
        unsafe { libc::syscall(libc::SYS_gettimeofday, &raw mut now, 0) };
        assert!(clockscope::now().as_timespec().0.abs_diff(now.tv_sec) <= 1);
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_filter_that_denies_every_clock() {
    let status = in_a_process(here!(a_filter_that_denies_every_clock), &[], || {
        disable_counter();
        deny(&[libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_gettimeofday, libc::SYS_time]);
        let first = clockscope::now();
        assert_eq!(read(1000), first, "the time stands still");
        assert_eq!(clockscope::source(), Source::Nothing);
        assert!(clockscope::error_bound().is_none() && clockscope::resolution().is_none());
        assert!(clockscope::utc_now().is_err());
    });
    assert!(status.success(), "{status}");
}

/// A filter that comes when the counter is in use: the vDSO needs no call, so nothing changes.
#[test]
fn a_filter_under_way() {
    let status = in_a_process(here!(a_filter_under_way), &[], || {
        settle();
        let generation = clockscope::generation();
        deny(&[libc::SYS_clock_gettime, libc::SYS_clock_getres, libc::SYS_gettimeofday, libc::SYS_prctl]);
        read(1_000_000);
        assert_eq!(clockscope::generation(), generation);
    });
    assert!(status.success(), "{status}");
}

/// A process that may not sleep waits all the same.
#[test]
fn a_filter_that_denies_sleep() {
    if clockscope::ticks::is_permitted() == Some(false) {
        return skip("this process may not read the counter");
    }
    let status = in_a_process(here!(a_filter_that_denies_sleep), &[], || {
        deny(&[libc::SYS_clock_nanosleep, libc::SYS_nanosleep, libc::SYS_futex]);
        let conversion = clockscope::calibrate_blocking(Duration::from_millis(3)).unwrap();
        assert!(conversion.frequency().window >= Duration::from_millis(3));
    });
    assert!(status.success(), "{status}");
}

/// Whatever the system refuses, errno is what it was: a reading may be taken in a signal handler.
#[test]
fn errno_is_left_alone() {
    const NONE: libc::c_int = 4242;
    let status = in_a_process(here!(errno_is_left_alone), &[], || {
        // SAFETY: takes nothing, and answers with an address.
        let errno = || unsafe { libc::__errno_location() };
        // No file can be opened any more, sysfs' among them, and the kernel states nothing of the
        // counter.
        let nothing = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const nothing) }, 0);
        deny(&[
            libc::SYS_prctl,
            libc::SYS_madvise,
            libc::SYS_adjtimex,
            libc::SYS_sched_setaffinity,
            libc::SYS_sched_yield,
            libc::SYS_perf_event_open,
            libc::SYS_clock_getres,
        ]);
        let calls: [(&str, fn()); 21] = [
            ("now", || _ = black_box(clockscope::now())),
            ("now_unordered", || _ = black_box(clockscope::now_unordered())),
            ("source", || _ = black_box(clockscope::source())),
            ("evidence", || _ = black_box(clockscope::evidence())),
            ("error_bound", || _ = black_box(clockscope::error_bound())),
            ("frequency", || _ = black_box(clockscope::frequency())),
            ("resolution", || _ = black_box(clockscope::resolution())),
            ("conversion", || _ = black_box(clockscope::conversion())),
            ("is_high_resolution", || _ = black_box(clockscope::is_high_resolution())),
            ("utc_now", || _ = black_box(clockscope::utc_now())),
            ("tai_now", || _ = black_box(clockscope::tai_now())),
            ("revalidate", || _ = black_box(clockscope::revalidate())),
            ("os::set_allowed_cpus", || _ = black_box(clockscope_core::os::set_allowed_cpus(&[60_000]))),
            ("os::clocksource", || _ = black_box(clockscope_core::os::clocksource())),
            ("os::perf_frequency", || _ = black_box(clockscope_core::os::perf_frequency())),
            ("prepare", clockscope::prepare),
            ("recheck", || _ = black_box(clockscope::recheck())),
            ("timeline_offset", || _ = black_box(clockscope::timeline_offset())),
            ("calibrate_blocking", || _ = black_box(clockscope::calibrate_blocking(Duration::from_millis(1)))),
            ("survive_disabled_counter", || _ = black_box(clockscope::survive_disabled_counter())),
            ("Upkeep", || drop(black_box(Upkeep::start(Duration::from_millis(1))))),
        ];
        for (name, call) in calls {
            // SAFETY: this thread's errno.
            unsafe { *errno() = NONE };
            call();
            // SAFETY: as above.
            assert_eq!(unsafe { *errno() }, NONE, "{name}");
        }
    });
    assert!(status.success(), "{status:?}");
}

/// From here on the kernel kills the process for every system call but those of the OS clock, and
/// what a test needs to end.
fn kill_for_all_others() {
    let needed = [
        libc::SYS_clock_gettime,
        libc::SYS_write,
        libc::SYS_exit_group,
        libc::SYS_clone,
        libc::SYS_wait4,
        libc::SYS_rt_sigreturn,
    ];
    install(&needed, libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_KILL_PROCESS);
}

/// Reads in a process that is killed for any other system call than the OS clock's: as it is, and
/// in a child, which begins a generation of its own.
fn read_confined() {
    let is_usable = is_usable();
    // The child has a counter if its parent has.
    let is_used = || {
        !is_usable || (0..100).any(|_| read(100_000) > Instant::default() && clockscope::source() == Source::Counter)
    };
    kill_for_all_others();
    read(100_000);
    assert_right();
    let status = status_of_child(|| {
        read(100_000);
        assert_right();
        is_used()
    });
    assert!(status.success(), "the child calibrates anew: {status}");
}

/// Runs `body` in a child, by no other system calls than those that a confined process may make,
/// and returns how it ended: with success if the answer is `true`.
fn status_of_child(body: impl FnOnce() -> bool) -> ExitStatus {
    // SAFETY: the child reads clocks and ends.
    let child = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
    if child == 0 {
        let is_well = body();
        // SAFETY: ends the process.
        unsafe { libc::_exit(i32::from(!is_well)) }
    }
    let mut status = 0;
    // SAFETY: the kernel writes the status of our child.
    assert_eq!(unsafe { libc::syscall(libc::SYS_wait4, child, &raw mut status, 0, 0) }, child);
    ExitStatus::from_raw(status)
}

#[test]
fn a_prepared_process_may_be_confined() {
    let status = in_a_process(here!(a_prepared_process_may_be_confined), &[], || {
        clockscope::prepare();
        read_confined();
    });
    assert!(status.success(), "{status}");
}

/// Whatever a child of a prepared process asks first of the time, the vDSO answers: the kernel
/// kills it for the system call.
#[test]
fn what_a_child_of_a_prepared_process_asks_first_is_no_system_call() {
    fn vdso_answers(clock: libc::clockid_t) -> bool {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the C library writes the timespec.
        unsafe { libc::clock_gettime(clock, &raw mut now) == 0 }
    }
    let name = here!(what_a_child_of_a_prepared_process_asks_first_is_no_system_call);
    let status = in_a_process(name, &[], || {
        clockscope::prepare();
        let (stamps, moment, std_moment) = (stamps::os(), clockscope::now(), std::time::Instant::now());
        let stamp = stamps.now();
        // SYS_gettid: a failed assertion names its thread.
        let needed = [libc::SYS_write, libc::SYS_exit_group, libc::SYS_clone, libc::SYS_wait4, libc::SYS_gettid];
        install(&needed, libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_KILL_PROCESS);
        let clocks = [libc::CLOCK_MONOTONIC, libc::CLOCK_REALTIME, libc::CLOCK_BOOTTIME, libc::CLOCK_MONOTONIC_RAW];
        if !status_of_child(|| clocks.into_iter().all(vdso_answers)).success() {
            return skip("the vDSO does not answer every clock");
        }
        let questions: [(&str, &dyn Fn() -> bool); 17] = [
            ("now", &|| clockscope::now() >= moment),
            ("now_unordered", &|| clockscope::now_unordered() > Instant::default()),
            ("try_now", &|| clockscope::try_now().is_ok_and(|now| now >= moment)),
            ("elapsed", &|| moment.elapsed() < Duration::from_secs(3600)),
            ("source", &|| clockscope::source() != Source::Nothing),
            ("error_bound", &|| clockscope::error_bound().is_some()),
            ("is_high_resolution", &clockscope::is_high_resolution),
            ("wall::now", &|| wall::now().as_unix_ns() > 0),
            ("wall::error_bound", &|| wall::error_bound().is_some()),
            ("to_wall", &|| moment.to_wall().is_some()),
            ("boot::now", &|| boot::now().as_ns() > 0),
            ("boot::counts_suspends", &boot::counts_suspends),
            ("a stamp", &|| stamps.now().count() >= stamp.count()),
            ("the time of a stamp", &|| stamps.instant(stamp).is_ok()),
            ("from_std", &|| Instant::from_std(std_moment).is_some()),
            ("to_std", &|| moment.to_std().is_some()),
            ("try_from", &|| Instant::try_from(std_moment).is_ok()),
        ];
        for (question, ask) in questions {
            let status = status_of_child(ask);
            assert!(status.success(), "{question}: {status}");
        }
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_process_that_has_read_for_a_while_may_be_confined() {
    let status = in_a_process(here!(a_process_that_has_read_for_a_while_may_be_confined), &[], || {
        read(2);
        read_confined();
    });
    assert!(status.success(), "{status}");
}

/// The time of day was asked for before, and stamps were taken: later timestamps of every kind make
/// no other system call than the OS clock's, for longer than what was stated of the time of day
/// lasts.
#[test]
fn timestamps_of_every_kind_may_be_taken_confined() {
    let status = in_a_process(here!(timestamps_of_every_kind_may_be_taken_confined), &[], || {
        clockscope::prepare();
        let within = bounded::now();
        let (counter, os) = (stamps::counter().ok(), stamps::os());
        settle();
        // Asked beside a line.
        black_box((bounded::now(), within, wall::now()));
        kill_for_all_others();
        let began = clockscope::now();
        while began.elapsed() < Duration::from_millis(2500) {
            let (moment, stamp) = (clockscope::now(), counter.map(|counter| counter.now()));
            black_box((clockscope::now_unordered(), clockscope::try_now().ok(), clockscope::source()));
            black_box((wall::now(), wall::now_unordered(), wall::now_monotone(), moment.to_wall()));
            black_box((clockscope::error_bound(), wall::error_bound(), wall::generation()));
            if let Some((counter, stamp)) = counter.zip(stamp) {
                assert!(counter.instant(stamp).is_ok() && counter.wall(stamp).is_ok());
                black_box(counter.error_bound(stamp).ok());
            }
            let stamp = os.now();
            assert!(os.instant(stamp).is_ok() && os.wall(stamp).is_ok());
        }
    });
    assert!(status.success(), "{status}");
}

/// As documented: a caller that wants the time of day asks the system.
#[test]
fn time_of_day_is_asked_for_by_its_callers_alone() {
    let status = in_a_process(here!(time_of_day_is_asked_for_by_its_callers_alone), &[], || {
        black_box(bounded::now());
        settle();
        kill_for_all_others();
        let began = clockscope::now();
        while began.elapsed() < Duration::from_millis(1500) {
            read(1000);
        }
        black_box(bounded::now());
    });
    assert_eq!(status.signal(), Some(libc::SIGSYS), "{status}");
}

/// From here on the kernel kills the process for every system call of this thread but those of the
/// OS clock, of the allocator, and what a test needs to end.
fn kill_for_all_but_the_allocators() {
    let needed = [
        libc::SYS_clock_gettime,
        libc::SYS_brk,
        libc::SYS_mmap,
        libc::SYS_munmap,
        libc::SYS_mremap,
        libc::SYS_mprotect,
        libc::SYS_madvise,
        libc::SYS_futex,
        libc::SYS_write,
        libc::SYS_exit_group,
    ];
    install(&needed, libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_KILL_PROCESS);
}

/// The findings that the kernel and the processor decide.
fn system_evidence() -> Vec<clockscope::Evidence> {
    let of_the_system = ["permission", "clocksource", "invariance"];
    clockscope::evidence().into_iter().filter(|evidence| of_the_system.contains(&evidence.name)).collect()
}

/// Asks all that a diagnosis asks, in a confined process, before the counter is calibrated and
/// after.
fn diagnose_confined() {
    kill_for_all_but_the_allocators();
    let first = system_evidence();
    assert_eq!(first.len(), 3, "{first:?}");
    for _ in 0..20 {
        assert_eq!(system_evidence(), first, "nothing was asked in between");
        assert!(clockscope::error_bound().is_some());
        assert_ne!(clockscope::source(), Source::Nothing);
        black_box((clockscope::frequency(), clockscope::conversion(), clockscope::resolution()));
        black_box((clockscope::generation(), clockscope::timeline_offset(), clockscope::is_high_resolution()));
        read(10_000);
    }
}

#[test]
fn a_prepared_process_may_be_diagnosed_confined() {
    let status = in_a_process(here!(a_prepared_process_may_be_diagnosed_confined), &[], || {
        clockscope::prepare();
        diagnose_confined();
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_process_that_has_read_twice_may_be_diagnosed_confined() {
    let status = in_a_process(here!(a_process_that_has_read_twice_may_be_diagnosed_confined), &[], || {
        read(1);
        diagnose_confined();
    });
    assert!(status.success(), "{status}");
}

/// The answers of the last `recheck()` are reported as they were.
#[test]
fn a_rechecked_process_reports_those_answers_confined() {
    let status = in_a_process(here!(a_rechecked_process_reports_those_answers_confined), &[], || {
        clockscope::recheck();
        let nominal = || clockscope::evidence().into_iter().find(|evidence| evidence.name == "nominal frequency");
        let source = nominal().map(|evidence| evidence.source);
        diagnose_confined();
        assert_eq!(nominal().map(|evidence| evidence.source), source);
    });
    assert!(status.success(), "{status}");
}

/// Other threads hold the lock again and again: a question waits for it without a system call.
#[test]
fn a_confined_thread_waits_for_the_lock_without_a_call() {
    let status = in_a_process(here!(a_confined_thread_waits_for_the_lock_without_a_call), &[], || {
        settle();
        for _ in 0..3 {
            // They end with the process.
            std::thread::spawn(|| {
                loop {
                    black_box((clockscope::error_bound(), clockscope::frequency()));
                }
            });
        }
        kill_for_all_but_the_allocators();
        for _ in 0..20_000 {
            black_box((clockscope::error_bound(), clockscope::frequency()));
        }
    });
    assert!(status.success(), "{status}");
}

/// As documented: between the first reading and the second one is a short window. What the second
/// asks is fatal.
#[test]
fn a_process_that_is_confined_after_one_reading_is_killed() {
    let status = in_a_process(here!(a_process_that_is_confined_after_one_reading_is_killed), &[], || {
        read(0);
        kill_for_all_others();
        read(1);
    });
    assert_eq!(status.signal(), Some(libc::SIGSYS), "{status}");
}

/// Neither sysfs nor anything else can be opened.
#[test]
fn a_process_that_can_open_nothing_keeps_its_counter() {
    let status = in_a_process(here!(a_process_that_can_open_nothing_keeps_its_counter), &[], || {
        settle();
        let (is_usable, generation) = (is_usable(), clockscope::generation());
        let nothing = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: reads the limit.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const nothing) }, 0);
        assert_eq!(clockscope::recheck(), is_usable);
        settle();
        assert_eq!(clockscope::generation(), generation);
    });
    assert!(status.success(), "{status}");
}

/// Not even the very first reading allocates, or waits, or leaves a trace in errno: it may be a
/// signal handler's.
#[test]
fn the_first_reading_may_be_a_signal_handlers() {
    extern "C" fn handle(_: libc::c_int) {
        let before = ALLOCATIONS.get();
        let last = black_box(clockscope::now());
        for _ in 0..100_000 {
            if black_box(clockscope::now()) < last || ALLOCATIONS.get() != before {
                // SAFETY: ends the process.
                unsafe { libc::_exit(2) };
            }
        }
    }
    let status = in_a_process(here!(the_first_reading_may_be_a_signal_handlers), &[], || {
        // What is denied is not put into words, which would have to be allocated.
        deny(&[libc::SYS_clock_getres, libc::SYS_openat, libc::SYS_prctl]);
        let handler = handle as extern "C" fn(libc::c_int);
        // SAFETY: the handler has the signature that is asked for.
        unsafe {
            libc::signal(libc::SIGUSR1, handler as usize);
            libc::raise(libc::SIGUSR1);
        }
        assert!(clockscope::generation() > 0, "the handler has run");
    });
    assert!(status.success(), "{status}");
}
