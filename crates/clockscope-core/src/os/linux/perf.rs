//! Performance events and the page that the kernel shares for each (perf_event_open(2)): whether
//! this process may count, and how the kernel turns the counter's counts into time.

#![allow(unsafe_code, reason = "perf events are a raw system call and a mapped page")]

use std::fs::File;
use std::os::fd::{AsFd, FromRawFd};

use super::MappedPage;
use crate::{Errno, Unavailable};

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

/// Kind of an event: its type and number in linux/perf_event.h.
pub struct PerfEventKind {
    kind: u32,
    config: u64,
    call: &'static str,
}

/// The core's cycles.
#[cfg(target_arch = "x86_64")]
pub const CYCLES: PerfEventKind = PerfEventKind { kind: 0, config: 0, call: "perf_event_open of the cycle counter" };
/// Nothing at all, which exists wherever there are events.
const DUMMY: PerfEventKind =
    PerfEventKind { kind: 1, config: 9, call: "perf_event_open of an event that counts nothing" };

/// exclude_kernel and exclude_hv: what an ordinary user may count.
const USER_ONLY: u64 = (1 << 5) | (1 << 6);
const CAP_USER_TIME: u64 = 1 << 3;

/// The beginning of perf_event_mmap_page.
#[repr(C)]
pub struct PerfEventPage {
    version: u32,
    compat_version: u32,
    /// Changes while the kernel writes.
    pub lock: u32,
    /// The hardware counter plus one; 0 where the event is on none.
    pub index: u32,
    /// To be added to the counter.
    pub offset: i64,
    time_enabled: u64,
    time_running: u64,
    /// The process's rights.
    pub capabilities: u64,
    /// The bits that the counter has.
    pub pmc_width: u16,
    time_shift: u16,
    time_mult: u32,
}

/// An event of this thread, with its page. It goes on as long as it lives.
#[derive(Debug)]
pub struct PerfEvent {
    page: MappedPage,
    _event: File,
}

impl PerfEvent {
    /// Opens it and maps its page.
    ///
    /// # Errors
    /// Which call the kernel refused.
    pub fn open(what: &PerfEventKind) -> Result<Self, Unavailable> {
        let attributes = Attributes {
            kind: what.kind,
            size: size_of::<Attributes>() as u32,
            config: what.config,
            flags: USER_ONLY,
            ..Attributes::default()
        };
        // SAFETY: the kernel reads `size` bytes of the attributes, which is their size; this
        // thread, any CPU, no group.
        let descriptor = unsafe {
            libc::syscall(libc::SYS_perf_event_open, &raw const attributes, 0, -1, -1, 8 /* CLOEXEC */)
        };
        if descriptor < 0 {
            return Err(Unavailable::Call(what.call.into(), Errno::last()));
        }
        // SAFETY: just opened, owned by nobody else.
        let event = unsafe { File::from_raw_fd(descriptor as i32) };
        let page = MappedPage::new(event.as_fd())
            .map_err(|errno| Unavailable::Call("mmap of the perf event".into(), errno))?;
        Ok(Self { page, _event: event })
    }

    /// The page: mapped as long as the event lives, and written by the kernel at any time.
    #[must_use]
    pub fn page(&self) -> *const PerfEventPage {
        self.page.start().cast()
    }
}

/// The counter's frequency as the kernel uses it for timestamps of events, in Hz: its own figure,
/// from a calibration of its own or from its source. Costs a few system calls, some 10 µs.
///
/// # Errors
/// The process may not count events (perf_event_paranoid), or the kernel does not trust the counter
/// with time.
pub fn frequency() -> Result<f64, Unavailable> {
    super::keep_errno(ask_frequency)
}

fn ask_frequency() -> Result<f64, Unavailable> {
    let event = PerfEvent::open(&DUMMY)?;
    let page = event.page();
    // SAFETY: the page is mapped as long as `event` lives and longer than `PerfEventPage`; the
    // kernel writes it, hence volatile.
    let (capabilities, shift, mult) = unsafe {
        (
            (&raw const (*page).capabilities).read_volatile(),
            (&raw const (*page).time_shift).read_volatile(),
            (&raw const (*page).time_mult).read_volatile(),
        )
    };
    if capabilities & CAP_USER_TIME == 0 || mult == 0 || shift > 63 {
        return Err(Unavailable::Missing("the kernel does not use the counter for timestamps of events".into()));
    }
    // ns = counts * mult >> shift.
    Ok(1e9 * (1u64 << shift) as f64 / f64::from(mult))
}
