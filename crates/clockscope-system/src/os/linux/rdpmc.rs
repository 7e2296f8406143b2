//! The core's cycle counter by RDPMC, where perf events permit it (perf_event_open(2),
//! "cap_user_rdpmc").

#![allow(unsafe_code, reason = "a mapped page and an instruction")]

use crate::clocks::catalog::cataloged;
use crate::{ClockInfo, Unit, Visitor};

fn info() -> ClockInfo {
    ClockInfo { unit: Unit::Counts(None), ..cataloged!("rdpmc") }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn each(visitor: &mut impl Visitor) {
    let clock = Err(crate::Unavailable::Instruction("RDPMC"));
    visitor.visit(crate::Entry::<clockscope_core::os::posix::BySyscall> { info: info(), clock });
}

#[cfg(target_arch = "x86_64")]
pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(crate::Entry { info: info(), clock: x86::open() });
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::sync::atomic::{Ordering, compiler_fence};

    use clockscope_core::os::perf::{CYCLES, PerfEvent, PerfEventPage};

    use crate::{Errno, RawClock, Unavailable};

    const CAP_USER_RDPMC: u64 = 1 << 2;

    /// The cycle counter of the thread that opened it.
    #[derive(Debug)]
    pub(super) struct Rdpmc {
        page: *const PerfEventPage,
        _event: PerfEvent,
    }

    // SAFETY: the page stays mapped as long as the clock lives, whichever thread drops it. What
    // another thread reads is that thread's counter and means nothing, but the kernel permits it to
    // the whole process.
    unsafe impl Send for Rdpmc {}
    // SAFETY: as above; the page is only read.
    unsafe impl Sync for Rdpmc {}

    /// Opens the event, if the kernel permits reading its counter.
    pub(super) fn open() -> Result<Rdpmc, Unavailable> {
        let event = PerfEvent::open(&CYCLES)?;
        let page = event.page();
        // SAFETY: the page is mapped as long as the event lives and longer than `PerfEventPage`.
        let permitted = unsafe { (&raw const (*page).capabilities).read_volatile() } & CAP_USER_RDPMC != 0;
        if !permitted {
            return Err(Unavailable::Missing(
                "the kernel does not permit RDPMC in user mode (/sys/bus/event_source/devices/cpu/rdpmc)".into(),
            ));
        }
        Ok(Rdpmc { page, _event: event })
    }

    impl RawClock for Rdpmc {
        type Raw = u64;

        /// The protocol of linux/perf_event.h: what was read stands if the lock did not move
        /// meanwhile.
        #[inline(always)]
        fn read(&self, raw: &mut u64) -> Result<(), Errno> {
            loop {
                // SAFETY: `_event` keeps the page mapped; the kernel writes it, hence volatile.
                let (lock, index, offset, width) = unsafe {
                    (
                        (&raw const (*self.page).lock).read_volatile(),
                        (&raw const (*self.page).index).read_volatile(),
                        (&raw const (*self.page).offset).read_volatile(),
                        (&raw const (*self.page).pmc_width).read_volatile(),
                    )
                };
                if index == 0 || width == 0 || width > 64 {
                    // The event is not on a counter now.
                    return Err(Errno::new(libc::EAGAIN));
                }
                let (low, high): (u32, u32);
                // SAFETY: the kernel permits RDPMC (asked in `open`) and named this counter.
                unsafe {
                    core::arch::asm!("rdpmc", in("ecx") index - 1, out("eax") low, out("edx") high, options(nostack))
                };
                let shift = 64 - u32::from(width);
                let count = ((((u64::from(high) << 32) | u64::from(low)) << shift) as i64) >> shift;
                compiler_fence(Ordering::SeqCst);
                // SAFETY: as above.
                if lock == unsafe { (&raw const (*self.page).lock).read_volatile() } {
                    *raw = offset.wrapping_add(count) as u64;
                    return Ok(());
                }
            }
        }

        #[inline(always)]
        fn value(&self, raw: &u64) -> u64 {
            *raw
        }
    }
}
