//! The C library's calls that are older than `clock_gettime`, and C11's `timespec_get`.

#![allow(unsafe_code, reason = "these calls write through pointers, and two are resolved by name")]

use core::ffi::{CStr, c_int, c_void};

use super::posix::{Timespec, resolution};
use crate::clocks::catalog::cataloged;
use crate::{ClockInfo, Entry, Errno, RawClock, Resolution, Unavailable, Visitor};

/// Defines a clock without state: the C call, and what its reading means in ns.
macro_rules! call {
    ($(#[$doc:meta])* $name:ident: $raw:ty, |$slot:ident| $read:expr, |$reading:ident| $value:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name;

        impl RawClock for $name {
            type Raw = $raw;

            #[inline(always)]
            fn read(&self, $slot: &mut $raw) -> Result<(), Errno> {
                $read
            }

            #[inline(always)]
            fn value(&self, $reading: &$raw) -> u64 {
                $value
            }
        }
    };
}

/// Succeeds or returns the C library's error.
#[inline(always)]
fn check(succeeded: bool) -> Result<(), Errno> {
    if succeeded { Ok(()) } else { Err(Errno::last()) }
}

/// `time_t` and microseconds as ns. Also for the halves of a `timeval`, which are of other widths
/// on 32-bit systems.
#[inline(always)]
fn microseconds(seconds: i64, micros: i64) -> u64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(micros.wrapping_mul(1000)) as u64
}

/// `struct timeval`, into which the call itself writes. A copy would read as one word what the C
/// library has just written as two, and wait until both have left the store buffer.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Timeval(libc::timeval);

impl Default for Timeval {
    #[inline(always)]
    fn default() -> Self {
        Self(libc::timeval { tv_sec: 0, tv_usec: 0 })
    }
}

call!(
    /// `gettimeofday`.
    Gettimeofday: Timeval,
    // SAFETY: the pointer is borrowed exclusively for the call; no time zone is asked for.
    |raw| check(unsafe { libc::gettimeofday(&raw mut raw.0, core::ptr::null_mut()) } == 0),
    |raw| {
        #[allow(clippy::useless_conversion, reason = "32 bits wide on 32-bit systems")]
        microseconds(raw.0.tv_sec.into(), raw.0.tv_usec.into())
    }
);

/// Calls `time` as C programs do: directly, at the linker's jump to the function. On x86-64, Rust
/// calls it through a register instead, which on some processors takes longer (1.23 instead of
/// 0.76 ns a turn on an Intel guest, family 6, model 167).
#[inline(always)]
fn seconds() -> libc::time_t {
    let nowhere = core::ptr::null_mut::<libc::time_t>();
    #[cfg(target_arch = "x86_64")]
    {
        let now;
        // SAFETY: as below; every register that a call may change is declared as overwritten, and
        // the stack is aligned, because `nostack` is not claimed.
        unsafe {
            core::arch::asm!(
                "call {time}", time = sym libc::time,
                inlateout("rdi") nowhere => _, lateout("rax") now, clobber_abi("C"),
            );
        }
        now
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: a null pointer asks for the returned value alone.
    unsafe {
        libc::time(nowhere)
    }
}

call!(
    /// `time`.
    Time: i64,
    |raw| {
        #[allow(clippy::useless_conversion, reason = "32 bits wide on 32-bit systems")]
        { *raw = seconds().into(); }
        check(*raw != -1)
    },
    |raw| raw.wrapping_mul(1_000_000_000) as u64
);

unsafe extern "C" {
    // Not in the libc crate for Linux.
    fn clock() -> libc::clock_t;
}

call!(
    /// `clock`: CPU time of the process in units of 1/CLOCKS_PER_SEC.
    CpuClock: i64,
    |raw| {
        // SAFETY: takes nothing, writes nothing.
        *raw = unsafe { clock() } as i64;
        check(*raw != -1)
    },
    |raw| raw.wrapping_mul(CLOCK_NS) as u64
);

/// The unit of `clock` in ns. POSIX fixes CLOCKS_PER_SEC at a million; FreeBSD has 128, NetBSD and
/// OpenBSD 100 (time.h of each).
const CLOCK_NS: i64 = if cfg!(target_os = "freebsd") {
    1_000_000_000 / 128
} else if cfg!(any(target_os = "netbsd", target_os = "openbsd")) {
    1_000_000_000 / 100
} else {
    1000
};

/// `times`: its answer, the time since some start in clock ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    tick_ns: i64,
}

impl RawClock for Times {
    type Raw = i64;

    #[inline(always)]
    fn read(&self, raw: &mut i64) -> Result<(), Errno> {
        let mut unused = core::mem::MaybeUninit::<libc::tms>::uninit();
        // SAFETY: times writes one struct tms, which is never read here.
        *raw = unsafe { libc::times(unused.as_mut_ptr()) } as i64;
        check(*raw != -1)
    }

    #[inline(always)]
    fn value(&self, raw: &i64) -> u64 {
        raw.wrapping_mul(self.tick_ns) as u64
    }
}

/// `getrusage`: user and system time together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Getrusage {
    who: c_int,
}

impl RawClock for Getrusage {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        let mut usage = core::mem::MaybeUninit::<libc::rusage>::uninit();
        // SAFETY: getrusage writes one struct rusage.
        check(unsafe { libc::getrusage(self.who, usage.as_mut_ptr()) } == 0)?;
        // SAFETY: the call succeeded, and has written both times.
        let (user, system) = unsafe { ((*usage.as_ptr()).ru_utime, (*usage.as_ptr()).ru_stime) };
        let seconds = user.tv_sec + system.tv_sec;
        let micros = user.tv_usec + system.tv_usec;
        #[allow(clippy::useless_conversion, reason = "32 bits wide on 32-bit systems")]
        {
            *raw = microseconds(seconds.into(), micros.into());
        }
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        *raw
    }
}

/// The libc crate lacks it for Android: linux/resource.h.
#[cfg(target_os = "android")]
const RUSAGE_THREAD: c_int = 1;
#[cfg(any(target_os = "linux", target_os = "freebsd", target_os = "openbsd"))]
use libc::RUSAGE_THREAD;

/// `struct timeb` of `ftime`.
#[cfg(not(target_os = "android"))]
#[allow(deprecated, reason = "as wide as the C library has it; musl's, which will change, has no ftime")]
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Timeb {
    time: libc::time_t,
    millitm: u16,
    timezone: i16,
    dstflag: i16,
}

/// `ftime`, which Android lacks, and which the C library keeps for old programs only and which is
/// therefore resolved by name.
#[cfg(not(target_os = "android"))]
#[derive(Clone, Copy, Debug)]
pub(super) struct Ftime(unsafe extern "C" fn(*mut Timeb) -> c_int);

#[cfg(not(target_os = "android"))]
impl RawClock for Ftime {
    type Raw = Timeb;

    #[inline(always)]
    fn read(&self, raw: &mut Timeb) -> Result<(), Errno> {
        // SAFETY: ftime writes one struct timeb through the pointer, which is borrowed exclusively
        // for the call.
        check(unsafe { (self.0)(raw) } == 0)
    }

    #[inline(always)]
    #[allow(clippy::unnecessary_cast, reason = "32 bits wide on 32-bit systems")]
    fn value(&self, raw: &Timeb) -> u64 {
        (raw.time as i64).wrapping_mul(1000).wrapping_add(raw.millitm.into()).wrapping_mul(1_000_000) as u64
    }
}

/// C11's `timespec_get`, resolved by name: C libraries before 2012 lack it.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimespecGet(unsafe extern "C" fn(*mut libc::timespec, c_int) -> c_int);

/// TIME_UTC (C11, 7.27).
const TIME_UTC: c_int = 1;

impl RawClock for TimespecGet {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        // SAFETY: timespec_get writes one timespec through the pointer, which is borrowed
        // exclusively for the call.
        check(unsafe { (self.0)(raw.as_mut_ptr(), TIME_UTC) } == TIME_UTC)
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.nanoseconds()
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(Entry { info: cataloged!("gettimeofday"), clock: Ok(Gettimeofday) });
    visitor.visit(Entry { info: cataloged!("time"), clock: Ok(Time) });
    visitor.visit(Entry {
        info: ClockInfo { resolution: Resolution::Nanoseconds(CLOCK_NS as f64), ..cataloged!("clock") },
        clock: Ok(CpuClock),
    });
    visitor.visit(times());
    visitor.visit(Entry { info: cataloged!("getrusage"), clock: Ok(Getrusage { who: libc::RUSAGE_SELF }) });
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "openbsd"))]
    visitor.visit(Entry { info: cataloged!("getrusage_thread"), clock: Ok(Getrusage { who: RUSAGE_THREAD }) });
    #[cfg(not(target_os = "android"))]
    visitor.visit(Entry {
        info: cataloged!("ftime"),
        clock: function(c"ftime").map(|found| {
            // SAFETY: the signature is that of ftime(3).
            Ftime(unsafe { core::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut Timeb) -> c_int>(found) })
        }),
    });
    visitor.visit(Entry {
        info: ClockInfo { resolution: resolution(libc::CLOCK_REALTIME), ..cataloged!("timespec_get") },
        clock: function(c"timespec_get").map(|found| {
            type Signature = unsafe extern "C" fn(*mut libc::timespec, c_int) -> c_int;
            // SAFETY: the signature is that of C11, 7.27.2.5.
            TimespecGet(unsafe { core::mem::transmute::<*mut c_void, Signature>(found) })
        }),
    });
}

fn times() -> Entry<Times> {
    // SAFETY: sysconf takes any number.
    let ticks_per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as i64;
    let tick_ns = 1_000_000_000_i64.checked_div(ticks_per_second).filter(|tick| *tick > 0);
    let resolution = tick_ns.map_or(Resolution::Unknown("sysconf(_SC_CLK_TCK) states no clock tick".into()), |tick| {
        Resolution::Nanoseconds(tick as f64)
    });
    Entry {
        info: ClockInfo { resolution, ..cataloged!("times") },
        clock: tick_ns
            .map(|tick_ns| Times { tick_ns })
            .ok_or_else(|| Unavailable::Missing("sysconf(_SC_CLK_TCK) states no clock tick".into())),
    }
}

/// A function of the C library by its name. Functions that glibc keeps for old programs only are
/// found by the version that those programs were linked with.
#[cfg(not(target_feature = "crt-static"))]
fn function(name: &'static CStr) -> Result<*mut c_void, Unavailable> {
    #[cfg_attr(not(target_env = "gnu"), allow(unused_mut, reason = "others have no versions of symbols"))]
    // SAFETY: the name is a C string; looking up a symbol runs no code of it.
    let mut found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    #[cfg(target_env = "gnu")]
    for version in [c"GLIBC_2.2.5", c"GLIBC_2.17", c"GLIBC_2.27", c"GLIBC_2.0", c"GLIBC_2.2"] {
        if found.is_null() {
            // SAFETY: as above.
            found = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), version.as_ptr()) };
        }
    }
    if found.is_null() { Err(Unavailable::Symbol(name.to_str().unwrap_or("such function"))) } else { Ok(found) }
}

/// A statically linked program has no symbols to look up.
#[cfg(target_feature = "crt-static")]
fn function(_: &'static CStr) -> Result<*mut c_void, Unavailable> {
    Err(Unavailable::Missing("looked up by name, which a statically linked program cannot do".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_become_nanoseconds() {
        let timeval = |tv_sec, tv_usec| Timeval(libc::timeval { tv_sec, tv_usec });
        assert_eq!(Gettimeofday.value(&timeval(3, 999_999)), 3_999_999_000);
        assert_eq!(Time.value(&3), 3_000_000_000);
        assert_eq!(Times { tick_ns: 10_000_000 }.value(&7), 70_000_000);
        // Before the epoch: differences stay right.
        assert_eq!(Gettimeofday.value(&timeval(0, 1)).wrapping_sub(Gettimeofday.value(&timeval(-1, 999_999))), 2_000);
    }
}
