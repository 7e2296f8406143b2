//! Everything that may happen to a process at once, for some seconds: it is stopped and continued,
//! a signal handler reads two thousand times a second, threads come and go and hop between CPUs,
//! and children are made.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clockscope::Source;
use clockscope_testing::skip;

use super::counters::{counters_apart_ns, read_counter};
use super::{in_a_process, monotonic_by_syscall};

/// The latest reading that was made known.
static KNOWN: AtomicU64 = AtomicU64::new(0);
static READINGS: AtomicU64 = AtomicU64::new(0);
static REGRESSIONS: AtomicU64 = AtomicU64::new(0);
/// Largest step back of a reading, in ns.
static WORST_NS: AtomicU64 = AtomicU64::new(0);
/// Generation of the first step back, plus 1.
static FIRST_IN: AtomicU64 = AtomicU64::new(0);
static SIGNALS: AtomicU64 = AtomicU64::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// One reading, which must be no smaller than any that was known before it was begun.
fn read() {
    let known = KNOWN.load(Ordering::Acquire);
    let ns = clockscope::now().as_ns();
    if ns < known {
        let first_in = clockscope::generation() + 1;
        let _ = FIRST_IN.compare_exchange(0, first_in, Ordering::Relaxed, Ordering::Relaxed);
        REGRESSIONS.fetch_add(1, Ordering::Relaxed);
        WORST_NS.fetch_max(known - ns, Ordering::Relaxed);
    }
    KNOWN.fetch_max(ns, Ordering::Release);
}

extern "C" fn handle(_: libc::c_int) {
    SIGNALS.fetch_add(1, Ordering::Relaxed);
    read();
}

/// Has `handle` called every 500 µs of real time, in whichever thread.
fn interrupt_often() {
    let period = libc::timeval { tv_sec: 0, tv_usec: 500 };
    let timer = libc::itimerval { it_interval: period, it_value: period };
    // SAFETY: the action is complete, the handler is of the signature that it says, and the timer
    // is read.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()), 0);
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut()), 0);
    }
}

/// Stops the thread that it interrupts for longer than a lock is waited for.
extern "C" fn stay_away(_: libc::c_int) {
    // Other signals wake it.
    let start = monotonic_by_syscall();
    while monotonic_by_syscall() - start < 130_000_000 {
        // SAFETY: sleeps.
        unsafe { libc::usleep(10_000) };
    }
}

/// Asks all the time, so that the thread mostly holds the lock, and is stopped there now and then.
fn ask_and_be_stopped() {
    // SAFETY: the action is complete, and the handler of the signature that it says; the thread
    // signals itself.
    let thread = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = stay_away as extern "C" fn(libc::c_int) as usize;
        assert_eq!(libc::sigaction(libc::SIGUSR2, &raw const action, std::ptr::null_mut()), 0);
        libc::pthread_self()
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while !IS_OVER.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(400));
                // SAFETY: the thread waits for this one.
                unsafe { libc::pthread_kill(thread, libc::SIGUSR2) };
            }
        });
        while !IS_OVER.load(Ordering::Relaxed) {
            black_box(clockscope::frequency());
        }
    });
}

/// Stops and continues the process, from another one that ends with it.
fn stop_often() -> libc::pid_t {
    // SAFETY: the child sends signals to its parent, sleeps and ends.
    unsafe {
        let parent = libc::getpid();
        let child = libc::fork();
        if child == 0 {
            libc::setitimer(libc::ITIMER_REAL, &std::mem::zeroed(), std::ptr::null_mut());
            let mut turn = 0u32;
            while libc::getppid() == parent {
                turn += 1;
                libc::usleep(3_000 + turn * 7919 % 5_000);
                libc::kill(parent, libc::SIGSTOP);
                libc::usleep(turn * 104_729 % 4_000);
                libc::kill(parent, libc::SIGCONT);
            }
            libc::_exit(0);
        }
        child
    }
}

/// Reads on all CPUs in turn.
fn hop() {
    let cpus = clockscope_core::os::allowed_cpus().unwrap();
    for cpu in cpus.iter().cycle() {
        if IS_OVER.load(Ordering::Relaxed) {
            return;
        }
        // A CPU may be gone, and then it is not hopped to.
        let _ = clockscope_core::os::set_allowed_cpus(&[*cpu]);
        for _ in 0..20_000 {
            read();
            read_counter();
        }
        READINGS.fetch_add(20_000, Ordering::Relaxed);
    }
}

/// A child that reads for a moment; whether its clock was right and never went back.
fn child_is_fine(known: u64) -> bool {
    // SAFETY: the child reads clocks and ends.
    match unsafe { libc::fork() } {
        0 => {
            let mut last = known;
            let mut fine = true;
            for _ in 0..1000 {
                let (before, now, after) =
                    (monotonic_by_syscall(), clockscope::now().as_ns(), monotonic_by_syscall() + 1_000);
                fine &= now >= last && (before.saturating_sub(1_000)..=after).contains(&now);
                last = now;
            }
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!fine)) }
        }
        child => {
            let mut status = 0;
            loop {
                // SAFETY: the kernel writes the status of our child.
                let answer = unsafe { libc::waitpid(child, &raw mut status, 0) };
                if answer == child {
                    return status == 0;
                }
            }
        }
    }
}

/// `CLOCKSCOPE_HAMMER_S` asks for another time than five seconds.
#[test]
fn nothing_goes_back_whatever_happens_to_the_process() {
    let status = in_a_process(here!(nothing_goes_back_whatever_happens_to_the_process), &[], || {
        let seconds = std::env::var("CLOCKSCOPE_HAMMER_S").map_or(5, |text| text.parse().unwrap());
        let stopper = stop_often();
        interrupt_often();
        let (mut children, mut wrong) = (0, 0);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(hop);
            }
            scope.spawn(ask_and_be_stopped);
            let start = Instant::now();
            while start.elapsed() < Duration::from_secs(seconds) {
                children += 1;
                wrong += u32::from(!child_is_fine(KNOWN.load(Ordering::Acquire)));
                // A thread that takes a few readings, and asks.
                let short = scope.spawn(|| {
                    (0..100).for_each(|_| read());
                    black_box((clockscope::error_bound(), clockscope::frequency()));
                });
                short.join().unwrap();
            }
            IS_OVER.store(true, Ordering::Relaxed);
        });
        // SAFETY: our child, which was not waited for.
        unsafe { libc::kill(stopper, libc::SIGKILL) };
        let regressions = REGRESSIONS.load(Ordering::Relaxed);
        // `cargo xtask bench` reads these.
        println!(
            "\nfigure regressions {regressions}\nfigure readings {}\nfigure signals {}\nfigure children {children}\n\
             figure wrong {wrong}",
            READINGS.load(Ordering::Relaxed),
            SIGNALS.load(Ordering::Relaxed),
        );
        println!("generation {}, {:?}", clockscope::generation(), clockscope::source());
        let [worst_ns, first_in] = [&WORST_NS, &FIRST_IN].map(|word| word.load(Ordering::Relaxed));
        let mut apart_ns = 0;
        if regressions > 0 {
            apart_ns = counters_apart_ns(worst_ns);
            println!("figure counters_apart_ns {apart_ns}");
        }
        if worst_ns > 0 && worst_ns <= apart_ns {
            skip(&format!("the counters of this machine's CPUs are {apart_ns} ns apart, and so are readings by them"));
        } else {
            assert_eq!(
                (regressions, wrong),
                (0, 0),
                "the worst went back by {worst_ns} ns, the first in generation {} of {}",
                first_in.saturating_sub(1),
                clockscope::generation()
            );
        }
        assert_eq!(wrong, 0);
        assert!(clockscope::source() != Source::Nothing);
    });
    // It may have been stopped once more.
    assert!(status.success(), "{status}");
}
