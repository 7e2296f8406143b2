//! The clock whose timeline the library serves: CLOCK_MONOTONIC.

#![allow(unsafe_code, reason = "gettimeofday writes through a pointer; the vDSO's function is kept as one")]

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::posix::{self, ByLibc, BySyscall, ByVdso, Timespec};
use super::{keep_errno, syscall, vdso, vmclock};
use crate::Errno;

/// CLOCK_MONOTONIC by whichever way is open. All zero is one that was not prepared: it makes a
/// system call.
#[derive(Debug)]
pub struct Timeline {
    /// The vDSO's `clock_gettime` where it was found and may be called; else null. Called without
    /// the C library in between, whose code and data are cold when the time is read rarely.
    vdso: AtomicPtr<c_void>,
    /// The vDSO's `getcpu`, or null.
    getcpu: AtomicPtr<c_void>,
    is_prepared: AtomicBool,
    /// The counter is disabled for this process: the vDSO reads it, so its clocks are fatal, too.
    counter_disabled: AtomicBool,
    /// True if the vDSO answers CLOCK_BOOTTIME.
    knows_suspends: AtomicBool,
    /// True if it answers CLOCK_MONOTONIC_RAW.
    knows_raw: AtomicBool,
    /// No monotonic clock answered once: from then on it is the wall clock, lest the timeline
    /// changes back and forth.
    monotonic_denied: AtomicBool,
}

impl Timeline {
    /// A clock that makes a system call until [`Timeline::prepare`]: that asks no question first,
    /// and is not fatal where the counter is disabled. A process that has read no clock yet is
    /// spared the page faults of the vDSO, too, which take several times as long.
    #[must_use]
    #[allow(clippy::new_without_default, reason = "it is for a static")]
    pub const fn new() -> Self {
        Self {
            vdso: AtomicPtr::new(core::ptr::null_mut()),
            getcpu: AtomicPtr::new(core::ptr::null_mut()),
            is_prepared: AtomicBool::new(false),
            counter_disabled: AtomicBool::new(false),
            knows_suspends: AtomicBool::new(false),
            knows_raw: AtomicBool::new(false),
            monotonic_denied: AtomicBool::new(false),
        }
    }

    /// Returns for how long the machine has been suspended, in ns: CLOCK_BOOTTIME goes on
    /// meanwhile, and CLOCK_MONOTONIC does not (clock_gettime(2)). Modulo 2^64: a time namespace
    /// may set either back. `None` where the vDSO does not answer: a confined process might not be
    /// allowed to ask.
    #[inline]
    #[must_use]
    pub fn suspended_ns(&self) -> Option<u64> {
        const TRIES: u32 = 4;
        if !self.knows_suspends.load(Ordering::Relaxed) {
            return None;
        }
        // By the pair that was least interrupted.
        let mut best: Option<(u64, u64)> = None;
        for _ in 0..TRIES {
            let [Some(before), Some(boot), Some(after)] =
                [libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME, libc::CLOCK_MONOTONIC].map(|id| self.by_vdso_called(id))
            else {
                continue;
            };
            let pair = (after.wrapping_sub(before), boot.wrapping_sub(after));
            best = Some(best.map_or(pair, |best| best.min(pair)));
        }
        best.map(|(_, suspended_ns)| suspended_ns)
    }

    /// Calls [`Timeline::by_vdso`] without inlining it: for callers that have time for a call.
    #[cold]
    #[inline(never)]
    fn by_vdso_called(&self, id: libc::clockid_t) -> Option<u64> {
        self.by_vdso(id)
    }

    /// Reads a clock by the vDSO, in ns. `None` where it was not found, or may not be called, or
    /// refuses.
    #[inline(always)]
    fn by_vdso(&self, id: libc::clockid_t) -> Option<u64> {
        let function = self.vdso.load(Ordering::Relaxed);
        if function.is_null() {
            return None;
        }
        // SAFETY: `prepare` alone stores anything but null there: this function, of this type.
        let function = unsafe { core::mem::transmute::<*mut c_void, vdso::ClockGettime>(function) };
        let mut now = Timespec::default();
        let is_read = ByVdso::with(function, id).read(&mut now).is_ok();
        // A handler that finds the counter disabled takes the function away: what was read then is
        // of the past.
        (is_read && !self.vdso.load(Ordering::Relaxed).is_null()).then(|| now.nanoseconds())
    }

    /// Returns the marker of /dev/vmclock0, which changes with each disruption.
    #[inline]
    #[must_use]
    pub fn disruptions(&self) -> Option<u64> {
        vmclock::disruption_marker()
    }

    /// The CPU that the calling thread runs on, by the vDSO; `None` where it exports no such
    /// function.
    #[inline]
    #[must_use]
    pub fn current_cpu(&self) -> Option<u32> {
        let function = self.getcpu.load(Ordering::Relaxed);
        if function.is_null() {
            return None;
        }
        let mut cpu = 0;
        // SAFETY: `prepare` alone stores anything but null there: this function, of this type. It
        // writes the CPU through the first pointer and takes null for the others (getcpu(2)).
        let answer = unsafe {
            let function = core::mem::transmute::<*mut c_void, vdso::GetCpu>(function);
            function(&raw mut cpu, core::ptr::null_mut(), core::ptr::null_mut())
        };
        (answer == 0).then_some(cpu)
    }

    /// Finds the shortest way. To be called before the first reading; costs microseconds.
    pub fn prepare(&self, counter_is_disabled: bool) {
        vmclock::prepare();
        self.getcpu
            .store(vdso::getcpu().map_or(core::ptr::null_mut(), |function| function as *mut c_void), Ordering::Relaxed);
        if counter_is_disabled {
            self.counter_is_disabled();
        }
        self.is_prepared.store(true, Ordering::Relaxed);
        if counter_is_disabled {
            return;
        }
        if let Ok(function) = vdso::clock_gettime() {
            self.knows_suspends.store(is_of_the_vdso(function, libc::CLOCK_BOOTTIME), Ordering::Relaxed);
            self.knows_raw.store(is_of_the_vdso(function, libc::CLOCK_MONOTONIC_RAW), Ordering::Relaxed);
            self.vdso.store(function as *mut c_void, Ordering::Relaxed);
            // A signal handler may have said so meanwhile.
            if self.counter_disabled.load(Ordering::Relaxed) {
                self.counter_is_disabled();
            }
        }
    }

    /// Has the vDSO avoided from now on.
    pub fn counter_is_disabled(&self) {
        self.counter_disabled.store(true, Ordering::Relaxed);
        self.vdso.store(core::ptr::null_mut(), Ordering::Relaxed);
    }

    /// CLOCK_MONOTONIC in ns, by the vDSO, or by the system call where the counter is disabled. The
    /// wall clock where that is denied.
    ///
    /// # Errors
    /// Both are denied; before [`Timeline::prepare`] the first alone.
    #[inline(always)]
    pub fn now_ns(&self) -> Result<u64, Errno> {
        match self.by_vdso(libc::CLOCK_MONOTONIC) {
            Some(ns) => Ok(ns),
            None => self.now_otherwise_ns(),
        }
    }

    /// Returns CLOCK_MONOTONIC_RAW in ns, which no daemon steers. `None` where the vDSO does not
    /// answer: a confined process might not be allowed to ask.
    #[must_use]
    pub fn raw_ns(&self) -> Option<u64> {
        if self.knows_raw.load(Ordering::Relaxed) { self.by_vdso(libc::CLOCK_MONOTONIC_RAW) } else { None }
    }

    /// CLOCK_REALTIME in ns since the Unix epoch, likewise.
    ///
    /// # Errors
    /// It is denied, by whichever call.
    #[inline(always)]
    pub fn wall_ns(&self) -> Result<i64, Errno> {
        match self.by_vdso(libc::CLOCK_REALTIME) {
            Some(ns) => Ok(ns as i64),
            None => self.wall_otherwise_ns(),
        }
    }

    /// CLOCK_REALTIME in ns since the Unix epoch, read without the vDSO.
    #[cold]
    fn wall_otherwise_ns(&self) -> Result<i64, Errno> {
        keep_errno(|| self.by_call(libc::CLOCK_REALTIME).or_else(|_| wall_ns()).map(|ns| ns as i64))
    }

    /// CLOCK_BOOTTIME in ns, which goes on in a suspend, likewise.
    ///
    /// # Errors
    /// It is denied, by whichever call.
    #[inline(always)]
    pub fn boot_ns(&self) -> Result<i64, Errno> {
        match self.by_vdso(libc::CLOCK_BOOTTIME) {
            Some(ns) => Ok(ns as i64),
            None => self.boot_otherwise_ns(),
        }
    }

    /// CLOCK_BOOTTIME in ns, read without the vDSO.
    #[cold]
    fn boot_otherwise_ns(&self) -> Result<i64, Errno> {
        keep_errno(|| self.by_call(libc::CLOCK_BOOTTIME).map(|ns| ns as i64))
    }

    /// CLOCK_MONOTONIC in ns, read without the vDSO; the wall clock where that is denied.
    #[cold]
    fn now_otherwise_ns(&self) -> Result<u64, Errno> {
        keep_errno(|| self.ask_ns())
    }

    /// Reads a clock by the C library, or by the system call where the counter is disabled, or may
    /// be.
    fn by_call(&self, id: libc::clockid_t) -> Result<u64, Errno> {
        let mut now = Timespec::default();
        let may_read_counter =
            self.is_prepared.load(Ordering::Relaxed) && !self.counter_disabled.load(Ordering::Relaxed);
        let answer = if !may_read_counter { BySyscall::new(id).read(&mut now) } else { ByLibc::new(id).read(&mut now) };
        answer.map(|()| now.nanoseconds())
    }

    fn ask_ns(&self) -> Result<u64, Errno> {
        if !self.monotonic_denied.load(Ordering::Relaxed) {
            let answer = self.by_call(libc::CLOCK_MONOTONIC);
            // Before it is prepared the vDSO may answer all the same.
            if answer.is_ok() || !self.is_prepared.load(Ordering::Relaxed) {
                return answer;
            }
        }
        let ns = wall_ns()?;
        self.monotonic_denied.store(true, Ordering::Relaxed);
        self.vdso.store(core::ptr::null_mut(), Ordering::Relaxed);
        Ok(ns)
    }

    /// Returns true if a monotonic clock answers; else it is the wall clock, which may be set.
    #[inline]
    #[must_use]
    pub fn is_monotonic(&self) -> bool {
        !self.monotonic_denied.load(Ordering::Relaxed)
    }

    /// The clock's tick in ns: what clock_getres says (1, or the timer tick where the kernel has no
    /// better clocksource). Where the clock is not the counter itself, no less than the smallest
    /// step that it shows.
    #[must_use]
    pub fn tick_ns(&self, is_the_counter: bool) -> u64 {
        let nominal = posix::resolution_ns(libc::CLOCK_MONOTONIC).unwrap_or(1);
        if is_the_counter { nominal } else { nominal.max(self.smallest_step_ns()) }
    }

    /// The smallest step between successive readings; 0 where none was seen.
    fn smallest_step_ns(&self) -> u64 {
        const READINGS: usize = 16;
        // The first reading is after none.
        let (mut smallest, mut last) = (u64::MAX, u64::MAX);
        for _ in 0..=READINGS {
            let now = self.now_ns().unwrap_or(last);
            if now > last {
                smallest = smallest.min(now - last);
            }
            last = now;
        }
        if smallest == u64::MAX { 0 } else { smallest }
    }
}

/// Returns whether this function answers a clock by itself, as it does CLOCK_BOOTTIME and
/// CLOCK_MONOTONIC_RAW since Linux 5.3. Before that it makes a system call, which costs several
/// times as much.
#[cold]
fn is_of_the_vdso(function: vdso::ClockGettime, clock: libc::clockid_t) -> bool {
    const SLOWER: u64 = 3;
    // Code that is cold takes longer, in an emulator fifty times as long: the first rounds count
    // for nothing.
    cost(function, libc::CLOCK_MONOTONIC);
    cost(function, clock) <= cost(function, libc::CLOCK_MONOTONIC).saturating_mul(SLOWER)
}

/// Returns what some reads of a clock by this function cost, in ns: the shortest of some rounds,
/// because an interruption only makes them longer.
#[cold]
#[inline(never)]
fn cost(function: vdso::ClockGettime, clock: libc::clockid_t) -> u64 {
    const ROUNDS: u32 = 4;
    const READS: u32 = 4;
    let mut shortest = u64::MAX;
    for _ in 0..ROUNDS {
        let start = read_vdso(function, libc::CLOCK_MONOTONIC);
        for _ in 0..READS {
            read_vdso(function, clock);
        }
        shortest = shortest.min(read_vdso(function, libc::CLOCK_MONOTONIC).wrapping_sub(start));
    }
    shortest
}

/// Reads a clock by this function, in ns; 0 where it refuses.
#[inline(never)]
fn read_vdso(function: vdso::ClockGettime, id: libc::clockid_t) -> u64 {
    let mut now = Timespec::default();
    ByVdso::with(function, id).read(&mut now).map_or(0, |()| now.nanoseconds())
}

/// The wall clock in ns, by gettimeofday: another system call than the one that was denied.
#[cold]
fn wall_ns() -> Result<u64, Errno> {
    let mut now = libc::timeval { tv_sec: 0, tv_usec: 0 };
    // SAFETY: gettimeofday writes one timeval through the pointer, which is ours, and takes no time
    // zone.
    unsafe { syscall::two(libc::SYS_gettimeofday, &raw mut now as usize, 0) }?;
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    Ok((now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_usec as u64 * 1000))
}
