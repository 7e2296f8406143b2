//! Clocks that are devices: PTP hardware clocks and the HPET.

#![allow(unsafe_code, reason = "the HPET is read from a mapped page")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use clockscope_core::os::MappedPage;
use clockscope_core::os::posix::{BySyscall, Timespec};

use super::posix::resolution;
use crate::clocks::catalog::cataloged;
use crate::{ClockInfo, Entry, Errno, RawClock, Resolution, Unavailable, Unit, Unwrapped, Visitor};

/// A PTP hardware clock, read by `clock_gettime` on its file (Linux
/// Documentation/driver-api/ptp.rst).
#[derive(Debug)]
pub(super) struct Ptp {
    clock: BySyscall,
    /// Keeps the dynamic clock id alive.
    _file: File,
}

impl RawClock for Ptp {
    type Raw = Timespec;

    #[inline(always)]
    fn read(&self, raw: &mut Timespec) -> Result<(), Errno> {
        self.clock.read(raw)
    }

    #[inline(always)]
    fn value(&self, raw: &Timespec) -> u64 {
        raw.nanoseconds()
    }
}

/// The HPET's main counter (IA-PC HPET specification 1.0a, 2.3.7).
#[derive(Debug)]
pub(super) struct Hpet {
    counter: *const u64,
    /// Of a counter of 32 bits; those of most AMD chips are.
    narrow: Option<Unwrapped>,
    _page: MappedPage,
}

// SAFETY: the page stays mapped as long as the clock lives, whichever thread reads or drops it, and
// is only read.
unsafe impl Send for Hpet {}
// SAFETY: as above; reading a device's register from several threads at once is no race in memory.
unsafe impl Sync for Hpet {}

impl RawClock for Hpet {
    type Raw = u64;

    #[inline(always)]
    fn read(&self, raw: &mut u64) -> Result<(), Errno> {
        *raw = if self.narrow.is_none() {
            // SAFETY: the pointer is into the page that `_page` keeps mapped; the register is 8
            // bytes wide and aligned.
            unsafe { self.counter.read_volatile() }
        } else {
            // SAFETY: as above; the lower half is a register of its own.
            unsafe { self.counter.cast::<u32>().read_volatile() }.into()
        };
        Ok(())
    }

    #[inline(always)]
    fn value(&self, raw: &u64) -> u64 {
        self.narrow.as_ref().map_or(*raw, |narrow| narrow.whole(*raw))
    }
}

pub(super) fn each(visitor: &mut impl Visitor) {
    let devices = ptp_devices();
    if devices.is_empty() {
        let missing = Unavailable::Missing("there is no /dev/ptp*".into());
        let resolution = Resolution::Unknown(missing.to_string().into());
        let info = ClockInfo { resolution, ..cataloged!("ptp0") };
        visitor.visit(Entry::<Ptp> { info, clock: Err(missing) });
    }
    for name in devices {
        visitor.visit(ptp(&name));
    }
    visitor.visit(hpet());
}

/// Names of the PTP devices, in the order of their numbers.
fn ptp_devices() -> Vec<String> {
    let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let mut numbers: Vec<u32> =
        entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix("ptp")?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|number| format!("ptp{number}")).collect()
}

fn ptp(name: &str) -> Entry<Ptp> {
    let opened = open(&format!("/dev/{name}"), libc::O_RDONLY);
    let (clock, resolution) = match opened {
        Ok(file) => {
            // FD_TO_CLOCKID of the kernel's uapi: a dynamic clock's id is made of its file
            // descriptor.
            let id = (!file.as_raw_fd() << 3) | 3;
            (Ok(Ptp { clock: BySyscall::new(id), _file: file }), resolution(id))
        }
        Err(reason) => (Err(reason.clone()), Resolution::Unknown(reason.to_string().into())),
    };
    Entry { info: ClockInfo { name: name.to_owned().into(), resolution, ..cataloged!("ptp0") }, clock }
}

fn hpet() -> Entry<Hpet> {
    let mapped = map_hpet();
    let (hz, resolution) = match &mapped {
        Ok((_, hz)) => (Some(*hz), Resolution::Nanoseconds(1e9 / hz)),
        Err(reason) => (None, Resolution::Unknown(reason.to_string().into())),
    };
    let info = ClockInfo { unit: Unit::Counts(hz), resolution, ..cataloged!("hpet") };
    Entry { info, clock: mapped.map(|(hpet, _)| hpet) }
}

/// Maps the HPET and reads its frequency from its capabilities register.
fn map_hpet() -> Result<(Hpet, f64), Unavailable> {
    let file = open("/dev/hpet", libc::O_RDONLY)?;
    let page = MappedPage::new(file.as_fd()).map_err(|errno| Unavailable::Call("mmap of /dev/hpet".into(), errno))?;
    let registers = page.start().cast::<u64>();
    // SAFETY: the capabilities register is the first of the page: 8 bytes, aligned.
    let capabilities = unsafe { registers.read_volatile() };
    // Upper half: the tick's length in femtoseconds. Bit 13: the counter is 64 bits wide.
    let period_fs = capabilities >> 32;
    if period_fs == 0 {
        return Err(Unavailable::Missing("/dev/hpet states a period of 0".into()));
    }
    let is_wide = capabilities & (1 << 13) != 0;
    let narrow = (!is_wide).then(|| Unwrapped::new(32));
    let hpet = Hpet { counter: registers.wrapping_add(0xF0 / size_of::<u64>()), narrow, _page: page };
    Ok((hpet, 1e15 / period_fs as f64))
}

/// Opens a device without waiting for it.
fn open(path: &str, flags: libc::c_int) -> Result<File, Unavailable> {
    let name = std::ffi::CString::new(path).map_err(|_| Unavailable::Missing("a path with a NUL".into()))?;
    // SAFETY: a C string and flags that create nothing; the descriptor is ours alone.
    match unsafe { libc::open(name.as_ptr(), flags | libc::O_CLOEXEC | libc::O_NONBLOCK) } {
        -1 => Err(refused(&format!("open of {path}"), &io::Error::last_os_error())),
        // SAFETY: just opened, owned by nobody else.
        descriptor => Ok(File::from(unsafe { OwnedFd::from_raw_fd(descriptor) })),
    }
}

fn refused(call: &str, error: &io::Error) -> Unavailable {
    Unavailable::Call(call.to_owned().into(), Errno::from(error))
}
