//! The core's cycle counter by RDPMC, where perf events permit it (perf_event_open(2), "cap_user_rdpmc").

#![allow(unsafe_code, reason = "perf events are a raw system call, a mapped page and an instruction")]

use crate::{About, Kind, Path, Resolution, Unavailable, Unit, Visitor};

const NAME: &str = "rdpmc";

fn about() -> About {
    About {
        name: NAME.into(),
        aliases: &[],
        kind: Kind::Cycles,
        path: Path::Instruction,
        unit: Unit::Ticks(None),
        resolution: Resolution::Unknown("cycles of the core, whose length changes".into()),
        summary: "RDPMC, core cycles in user mode, by perf events",
        on_clocksource: false,
        is_ordered: false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(crate::Entry::<super::Reference> { about: about(), clock: Err(Unavailable::Instruction("RDPMC")) });
}

#[cfg(target_arch = "x86_64")]
pub(super) fn each(visitor: &mut impl Visitor) {
    visitor.visit(crate::Entry { about: about(), clock: x86::open() });
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::fs::File;
    use std::os::fd::{AsRawFd, FromRawFd};
    use std::sync::atomic::{Ordering, compiler_fence};

    use super::Unavailable;
    use crate::os::backend::last_errno;
    use crate::{Errno, RawClock};

    /// perf_event_attr up to version 0 (64 bytes), as linux/perf_event.h lays it out.
    #[derive(Default)]
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup: u32,
        breakpoint_type: u32,
        config1: u64,
    }

    const PERF_TYPE_HARDWARE: u32 = 0;
    const PERF_COUNT_HW_CPU_CYCLES: u64 = 0;
    /// exclude_kernel and exclude_hv: what an ordinary user may count.
    const USER_ONLY: u64 = (1 << 5) | (1 << 6);
    const CAP_USER_RDPMC: u64 = 1 << 2;

    /// The beginning of perf_event_mmap_page.
    #[repr(C)]
    struct Page {
        version: u32,
        compat_version: u32,
        lock: u32,
        index: u32,
        offset: i64,
        time_enabled: u64,
        time_running: u64,
        capabilities: u64,
        pmc_width: u16,
    }

    /// The cycle counter of the thread that opened it.
    #[derive(Debug)]
    pub(super) struct Rdpmc {
        page: *const Page,
        _mapping: Mapping,
    }

    // SAFETY: the page stays mapped as long as the clock lives, whichever thread drops it. What another thread reads is that
    // thread's counter and means nothing, but the kernel permits it to the whole process.
    unsafe impl Send for Rdpmc {}
    // SAFETY: as above; the page is only read.
    unsafe impl Sync for Rdpmc {}

    /// The event and its mapped page.
    #[derive(Debug)]
    struct Mapping {
        page: *mut libc::c_void,
        _event: File,
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: mapped by `open` with this length; nobody else unmaps it.
            unsafe { libc::munmap(self.page, 4096) };
        }
    }

    pub(super) fn open() -> Result<Rdpmc, Unavailable> {
        let refused = |call: &'static str| Unavailable::Call(call.into(), last_errno());
        let attributes = Attributes {
            kind: PERF_TYPE_HARDWARE,
            size: size_of::<Attributes>() as u32,
            config: PERF_COUNT_HW_CPU_CYCLES,
            flags: USER_ONLY,
            ..Attributes::default()
        };
        // SAFETY: the kernel reads `size` bytes of the attributes, which is their size; this thread, any CPU, no group.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, 8 /* CLOEXEC */)
        };
        if descriptor < 0 {
            return Err(refused("perf_event_open of the cycle counter"));
        }
        // SAFETY: just opened, owned by nobody else.
        let event = unsafe { File::from_raw_fd(descriptor as i32) };
        // SAFETY: a new read-only mapping at an address of the kernel's choice.
        let page =
            unsafe { libc::mmap(core::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_SHARED, event.as_raw_fd(), 0) };
        if page == libc::MAP_FAILED {
            return Err(refused("mmap of the perf event"));
        }
        let mapping = Mapping { page, _event: event };
        let page = page.cast::<Page>().cast_const();
        // SAFETY: the page was just mapped and is at least as long as `Page`.
        let permitted = unsafe { (&raw const (*page).capabilities).read_volatile() } & CAP_USER_RDPMC != 0;
        if !permitted {
            return Err(Unavailable::Missing(
                "the kernel does not permit RDPMC in user mode (/sys/bus/event_source/devices/cpu/rdpmc)".into(),
            ));
        }
        Ok(Rdpmc { page, _mapping: mapping })
    }

    impl RawClock for Rdpmc {
        type Raw = u64;

        /// The protocol of linux/perf_event.h: what was read stands if the lock did not move meanwhile.
        #[inline(always)]
        fn read(&self, raw: &mut u64) -> Result<(), Errno> {
            loop {
                // SAFETY: `_mapping` keeps the page mapped; the kernel writes it, hence volatile.
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
                    return Err(Errno(libc::EAGAIN));
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
