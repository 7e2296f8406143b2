//! Stamps in processes to which something is done: threads that convert beside renewals, signal
//! handlers, forks, a counter that is disabled.

use std::hint::black_box;
use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clockscope::stamps::{self, Converted, Header, Refused, Stamp, StampClock, StampError, Stamps};
use clockscope::{Demotion, Instant, Upkeep, WallState};
use clockscope_testing::{skip, until};

use super::{ALLOCATIONS, disable_counter, forked, in_a_process, install, monotonic_by_syscall};

/// The counter's stamps, or a skipped test where the machine has no counter that is fit.
fn counter() -> Option<Stamps> {
    stamps::counter().inspect_err(|refused| skip(&refused.to_string())).ok()
}

/// A stamp between two readings of the system call, in ns.
fn stamped(stamps: Stamps) -> (u64, Stamp, u64) {
    let before = monotonic_by_syscall();
    let stamp = stamps.now();
    (before, stamp, monotonic_by_syscall())
}

/// What a conversion says is so.
fn assert_right_stamp(stamps: Stamps, (before, stamp, after): (u64, Stamp, u64)) {
    let (instant, bound) = stamps.instant_with_bound(stamp).unwrap();
    let (ns, bound) = (instant.as_ns(), u64::try_from(bound.as_nanos()).unwrap() + 1);
    assert!((before.saturating_sub(bound)..=after + bound).contains(&ns), "{before} {ns} {after}, {bound} ns");
}

#[test]
fn a_stamp_becomes_the_time_of_its_moment() {
    let status = in_a_process(here!(a_stamp_becomes_the_time_of_its_moment), &[], || {
        let Some(counter) = counter() else { return };
        let os = stamps::os();
        assert_eq!(os.instant(Stamp::from_count(1 << 63)), Err(StampError::Future), "no moment is so late");
        let mut kept = Vec::with_capacity(1000);
        let allocations = ALLOCATIONS.get();
        for turn in 0..1000 {
            kept.push((stamped(counter), stamped(os)));
            if turn % 100 == 0 {
                stamps::renew().unwrap();
            }
        }
        for (by_counter, by_os) in &kept {
            assert_right_stamp(counter, *by_counter);
            assert_right_stamp(os, *by_os);
            assert_eq!(os.instant(by_os.1), Ok(Instant::from_ns(by_os.1.count())));
        }
        assert_eq!(ALLOCATIONS.get(), allocations);
        let stamps = kept.iter().map(|((_, stamp, _), _)| *stamp);
        let times: Vec<Instant> = counter.instants(stamps).collect::<Result<_, _>>().unwrap();
        assert!(times.is_sorted());
        for ((_, stamp, _), _) in &kept {
            assert!(counter.bounded(*stamp).is_ok() && counter.wall(*stamp).is_ok());
        }
    });
    assert!(status.success(), "{status}");
}

/// A header that is read from its text converts as the process does, before and after.
#[test]
fn a_header_converts_as_the_process_does() {
    fn check(stamps: Stamps) {
        let first = stamps.now();
        let mut kept = Vec::new();
        let said = |stamp: Stamp| {
            let (instant, error_bound) = stamps.instant_with_bound(stamp).unwrap();
            (instant, error_bound, stamps.wall(stamp).ok(), stamps.bounded(stamp).unwrap())
        };
        for _ in 0..20 {
            kept.extend((0..50).map(|_| stamps.now()));
            stamps::renew().unwrap();
        }
        let header: Header = stamps.header(first).unwrap().to_string().parse().unwrap();
        for stamp in &kept {
            let Converted { instant, error_bound, wall, interval, .. } = header.convert(*stamp).unwrap();
            assert_eq!((instant, error_bound, wall, interval.unwrap()), said(*stamp));
        }
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(1));
            stamps::renew().unwrap();
        }
        for stamp in &kept {
            assert_eq!(header.convert(*stamp).unwrap().instant, said(*stamp).0);
        }
        let after = header.convert(stamps.now());
        match header.clock() {
            StampClock::Counter => assert_eq!(after, Err(StampError::AfterHeader)),
            StampClock::Os => assert!(after.is_ok_and(|after| after.interval.is_none() && after.wall.is_none())),
        }
        let last = stamps.now();
        let later = stamps.header(last).unwrap();
        assert!(later.convert(last).is_ok());
        let pieces = |header: &Header| header.to_string().matches("\npiece ").count();
        // That of the stamp, and one for each of the two renewals, whose clocks may be seen to part
        // where others run in between.
        assert!(pieces(&later) <= 3, "{later}");
    }
    let status = in_a_process(here!(a_header_converts_as_the_process_does), &[], || {
        check(stamps::os());
        let Some(counter) = counter() else { return };
        check(counter);
        assert!(forked(|| assert_eq!(counter.header(counter.now()).unwrap_err(), StampError::NoHistory)));
    });
    assert!(status.success(), "{status}");
}

/// The wall clock's time at a stamp is between two readings of it, to a microsecond.
#[test]
fn a_stamp_has_wall_time() {
    let status = in_a_process(here!(a_stamp_has_wall_time), &[], || {
        let Some(counter) = counter() else { return };
        let wall_ns = || i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap();
        let (before, stamp, after) = (wall_ns(), counter.now(), wall_ns());
        let wall = counter.wall(stamp).unwrap().as_unix_ns();
        let error = i64::try_from(counter.error_bound(stamp).unwrap().as_nanos()).unwrap() + 1_000;
        assert!((before - error..=after + error).contains(&wall), "{before} {wall} {after}, {error} ns");
        let interval = counter.bounded(stamp).unwrap();
        assert!(interval.earliest <= interval.latest);
    });
    assert!(status.success(), "{status}");
}

/// Threads convert what they and others stamped, at once and later, while one renews.
#[test]
fn order_holds_among_threads_while_another_renews() {
    let status = in_a_process(here!(order_holds_among_threads_while_another_renews), &[], || {
        let Some(counter) = counter() else { return };
        let is_over = AtomicBool::new(false);
        let mut all: Vec<(u64, Instant)> = Vec::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = stamps::renew();
                }
            });
            let convert = || {
                let mut times = Vec::new();
                let mut kept = Vec::new();
                for turn in 0..20_000 {
                    kept.push(counter.now_unordered());
                    let stamp = kept[if turn % 3 == 0 { turn } else { turn / 2 }];
                    match counter.instant(stamp) {
                        Ok(instant) => times.push((stamp.count(), instant)),
                        Err(StampError::Busy | StampError::NotCompared) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
                times
            };
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(convert)).collect();
            threads.into_iter().for_each(|thread| all.extend(thread.join().unwrap()));
            is_over.store(true, Ordering::Relaxed);
        });
        all.sort_unstable();
        assert!(all.len() > 1_000 && all.is_sorted_by_key(|(_, instant)| *instant));
    });
    assert!(status.success(), "{status}");
}

static IN_HANDLER: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Converts a stamp of now and counts how that ended.
extern "C" fn convert_in_handler(_: libc::c_int) {
    // SAFETY: none is asked for; the process called `counter` before.
    let Ok(counter) = (unsafe { COUNTER }).ok_or(()) else { return };
    let kind = match counter.instant(counter.now()) {
        Ok(_) => 0,
        Err(StampError::Busy | StampError::NotCompared) => 1,
        Err(_) => 2,
    };
    IN_HANDLER[kind].fetch_add(1, Ordering::Relaxed);
}

static mut COUNTER: Option<Stamps> = None;

#[test]
fn a_handler_converts_whatever_it_interrupts() {
    let status = in_a_process(here!(a_handler_converts_whatever_it_interrupts), &[], || {
        let Some(counter) = counter() else { return };
        // SAFETY: nobody reads it yet; the handler is set after.
        unsafe {
            COUNTER = Some(counter);
            libc::signal(libc::SIGALRM, convert_in_handler as *const () as usize);
        }
        // Once a turn, or signals might leave no time for anything else.
        let interrupt_in_us = |us| {
            let [never, soon] = [0, us].map(|tv_usec| libc::timeval { tv_sec: 0, tv_usec });
            let timer = libc::itimerval { it_interval: never, it_value: soon };
            // SAFETY: the kernel reads the timer.
            assert_eq!(unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()) }, 0);
        };
        let ran = clockscope_testing::thread_time();
        let count = |kind: usize| IN_HANDLER[kind].load(Ordering::Relaxed);
        let mut turn = 0;
        while count(0) < 300 && (clockscope_testing::thread_time() - ran).as_secs() < 20 {
            turn += 1;
            interrupt_in_us(1 + turn % 40);
            for _ in 0..20 {
                let _ = stamps::renew();
                black_box(counter.instant(counter.now()).is_ok());
            }
        }
        assert!(count(0) >= 300 && count(2) == 0, "{} {} {}", count(0), count(1), count(2));
    });
    assert!(status.success(), "{status}");
}

/// Whatever another thread was at when the process forked.
#[test]
fn a_forked_child_has_its_own_history() {
    let status = in_a_process(here!(a_forked_child_has_its_own_history), &[], || {
        let Some(counter) = counter() else { return };
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = stamps::renew();
                }
            });
            for _ in 0..100 {
                let parents = counter.now();
                assert!(forked(|| {
                    assert_eq!(counter.instant(parents), Err(StampError::NoHistory));
                    assert_eq!(stamps::renew(), Err(StampError::NoHistory));
                    let own = stamps::counter().unwrap();
                    assert_eq!(own.instant(parents), Err(StampError::BeforeHistory));
                    assert_right_stamp(own, stamped(own));
                }));
            }
            is_over.store(true, Ordering::Relaxed);
        });
    });
    assert!(status.success(), "{status}");
}

#[test]
fn a_disabled_counter_is_refused() {
    let status = in_a_process(here!(a_disabled_counter_is_refused), &[], || {
        disable_counter();
        assert_eq!(stamps::counter().unwrap_err(), Refused::NotUsed(Demotion::NotPermitted));
        assert_eq!(clockscope::demotion(), Some(Demotion::NotPermitted));
        let os = stamps::os();
        assert_right_stamp(os, stamped(os));
    });
    assert!(status.success(), "{status}");
}

/// The documented fallback: one variable, whichever clock it is.
fn fallback() -> Stamps {
    let stamps = stamps::counter().unwrap_or_else(|_| stamps::os());
    assert_eq!(size_of_val(&stamps), 1);
    for _ in 0..100 {
        let (stamp, unordered) = (stamped(stamps), stamps.now_unordered());
        assert_right_stamp(stamps, stamp);
        assert!(stamps.instant(unordered).is_ok());
    }
    assert_eq!(stamps.header(stamps.now()).unwrap().clock(), stamps.clock());
    stamps
}

#[test]
fn one_variable_takes_stamps_of_the_counter() {
    let status = in_a_process(here!(one_variable_takes_stamps_of_the_counter), &[], || {
        let Some(counter) = counter() else { return };
        assert_eq!(fallback(), counter);
        assert_eq!(counter.clock(), StampClock::Counter);
    });
    assert!(status.success(), "{status}");
}

#[test]
fn one_variable_takes_stamps_of_the_system_where_the_counter_is_refused() {
    let here = here!(one_variable_takes_stamps_of_the_system_where_the_counter_is_refused);
    let status = in_a_process(here, &[], || {
        disable_counter();
        assert_eq!(fallback(), stamps::os());
        assert_eq!(stamps::os().clock(), StampClock::Os);
    });
    assert!(status.success(), "{status}");
}

/// Stamps of both clocks, taken between the same readings, have the same moment, the time of day
/// and bounds, singly and in batches.
#[test]
fn stamps_of_both_clocks_convert_alike() {
    fn check(stamps: Stamps, taken: &[(u64, Stamp, u64)]) -> Vec<(i64, i64, WallState)> {
        let each = || taken.iter().map(|(_, stamp, _)| *stamp);
        let instants: Vec<_> = each().map(|stamp| stamps.instant(stamp).unwrap()).collect();
        let walls: Vec<_> = each().map(|stamp| stamps.wall(stamp).unwrap()).collect();
        let intervals: Vec<_> = each().map(|stamp| stamps.bounded(stamp).unwrap()).collect();
        assert!(stamps.instants(each()).eq(instants.iter().copied().map(Ok)));
        assert!(stamps.walls(each()).eq(walls.iter().copied().map(Ok)));
        assert!(stamps.boundeds(each()).eq(intervals.iter().copied().map(Ok)));
        if stamps.clock() == StampClock::Os {
            let before_history = Stamp::from_count(1);
            assert_eq!(stamps.instants([before_history]).next(), Some(Ok(Instant::from_ns(1))), "it is the time");
        }
        let no_time = Stamp::from_count(1 << 63);
        assert!(
            [stamps.instants([no_time]).next(), Some(stamps.instant(no_time))]
                .iter()
                .all(|one| { matches!(one, Some(Err(StampError::Future | StampError::BeforeHistory))) })
        );
        let rows = instants.iter().zip(&walls).zip(&intervals);
        rows.map(|((instant, wall), interval)| (instant.as_signed_ns(), wall.as_unix_ns(), interval.state)).collect()
    }
    let status = in_a_process(here!(stamps_of_both_clocks_convert_alike), &[], || {
        let Some(counter) = counter() else { return };
        let os = stamps::os();
        let taken: Vec<_> = (0..200).map(|_| (stamped(counter), stamped(os))).collect();
        stamps::renew().unwrap();
        let (by_counter, by_os): (Vec<_>, Vec<_>) = taken.into_iter().unzip();
        let converted = check(counter, &by_counter).into_iter().zip(check(os, &by_os));
        for (index, (counter_row, os_row)) in converted.enumerate() {
            let bound = counter.error_bound(by_counter[index].1).unwrap().as_nanos() as i64 + 1_000;
            let apart = (by_os[index].2 - by_counter[index].0) as i64 + bound;
            assert!((os_row.0 - counter_row.0).abs() <= apart, "{counter_row:?} {os_row:?}");
            assert!((os_row.1 - counter_row.1).abs() <= apart + 1_000, "{counter_row:?} {os_row:?}");
            assert_eq!(os_row.2, counter_row.2);
        }
    });
    assert!(status.success(), "{status}");
}

/// As documented: a stamp reads the counter without a question.
#[test]
fn a_counter_disabled_under_way_is_fatal_to_stamps() {
    let status = in_a_process(here!(a_counter_disabled_under_way_is_fatal_to_stamps), &[], || {
        let counter = stamps::counter();
        disable_counter();
        match counter {
            Ok(counter) => _ = black_box(counter.now_unordered()),
            // SAFETY: ends this process.
            Err(_) => unsafe { _ = libc::raise(libc::SIGSEGV) },
        }
    });
    assert_eq!(status.signal(), Some(libc::SIGSEGV), "{status}");
}

#[test]
fn a_disabled_counter_that_is_survived_is_given_up() {
    let status = in_a_process(here!(a_disabled_counter_that_is_survived_is_given_up), &[], || {
        clockscope::survive_disabled_counter().unwrap();
        let Some(counter) = counter() else { return };
        let early = stamped(counter);
        stamps::renew().unwrap();
        disable_counter();
        let late = counter.now();
        assert_eq!(counter.instant(late), Err(StampError::BeforeHistory), "the handler's reading is zero");
        assert_eq!(stamps::renew(), Err(StampError::GivenUp(Demotion::NotPermitted)));
        assert_right_stamp(counter, early);
        let (_, stamp, _) = early;
        let future = Stamp::from_count(stamp.count() + 1_000_000_000);
        assert_eq!(counter.instant(future), Err(StampError::GivenUp(Demotion::NotPermitted)));
    });
    assert!(status.success(), "{status}");
}

/// Waits until an upkeep has renewed the history this often after a moment. Its thread renews after
/// it has written down a time that is a millisecond later than its last renewal, so that a still
/// later time proves that the renewal is done.
fn until_it_renewed(upkeep: &Upkeep, after_ns: u64, renewals: u32) {
    let (mut last_ns, mut seen) = (after_ns, 0);
    until("the upkeep renews the history", || {
        let ns = upkeep.recent().as_ns();
        if ns >= last_ns + 1_000_000 {
            (last_ns, seen) = (ns, seen + 1);
        }
        seen > renewals
    });
}

/// A thread that may not read the counter converts what the upkeep's thread has covered.
#[test]
fn an_upkeep_renews_the_history() {
    let status = in_a_process(here!(an_upkeep_renews_the_history), &[], || {
        let Some(counter) = counter() else { return };
        let upkeep = Upkeep::start(Duration::from_micros(100)).unwrap();
        let early = stamped(counter);
        until_it_renewed(&upkeep, early.2, 2);
        disable_counter();
        assert_right_stamp(counter, early);
        // Its end would read a clock, and renew once more.
        std::mem::forget(upkeep);
    });
    assert!(status.success(), "{status}");
}

/// As documented: a renewal or a conversion asks the kernel by adjtimex, and by clock_gettime
/// without a vDSO. Any other system call ends this process.
#[test]
fn a_confined_process_renews_and_converts() {
    let status = in_a_process(here!(a_confined_process_renews_and_converts), &[], || {
        let Some(counter) = counter() else { return };
        let needed = [
            libc::SYS_adjtimex,
            libc::SYS_clock_adjtime,
            libc::SYS_clock_gettime,
            libc::SYS_write,
            libc::SYS_exit_group,
        ];
        install(&needed, libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_KILL_PROCESS);
        for _ in 0..1_000 {
            let taken = stamped(counter);
            assert_right_stamp(counter, taken);
            stamps::renew().unwrap();
            assert!(counter.wall(taken.1).is_ok() && counter.bounded(taken.1).is_ok());
        }
    });
    assert!(status.success(), "{status}");
}
