//! The page by which a hypervisor announces that it has moved the machine or restored it from a
//! snapshot: /dev/vmclock0, since Linux 6.13.
//!
//! Layout: include/uapi/linux/vmclock-abi.h, version 1. Of its fields only the disruption marker is
//! used: "changes each time the clock is disrupted" by a move, and by a restored snapshot as well.

#![allow(unsafe_code, reason = "the hypervisor's page is mapped into the process and read while it changes")]

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering, fence};
use std::os::fd::BorrowedFd;

use super::MappedPage;
use crate::Errno;

/// Path at which the kernel's driver offers the page. Readable for root, unless the system is
/// configured otherwise.
const PATH: &CStr = c"/dev/vmclock0";

/// The beginning of the page. All numbers are little-endian.
#[repr(C)]
struct Layout {
    magic: AtomicU32,
    size: AtomicU32,
    version_and_kinds: AtomicU32,
    /// Odd while the fields below change.
    sequence: AtomicU32,
    /// The lower half first. In halves, because memory that may only be read may be loaded by a
    /// register's width at most; the sequence makes them one.
    disruption_marker: [AtomicU32; 2],
}

/// "VCLK".
const MAGIC: u32 = 0x4b4c_4356;
const VERSION: u32 = 1;
/// The shortest structure of this version, whose last field is the largest error of its time.
const MIN_STRUCTURE_BYTES: u32 = 104;

/// The page, mapped for the rest of the process and its children; null where there is none.
static PAGE: AtomicPtr<c_void> = AtomicPtr::new(core::ptr::null_mut());
/// True if it was looked for.
static WAS_SEARCHED: AtomicBool = AtomicBool::new(false);

/// Maps the page if the system offers one, once in a process and its children. Opens a file: to be
/// called where a process may still do that.
#[cold]
pub(super) fn prepare() {
    if WAS_SEARCHED.load(Ordering::Relaxed) {
        return;
    }
    let page = map(PATH);
    // Too many open files say nothing of this one: the next question looks again.
    let is_answered = page.is_some() || ![libc::EMFILE, libc::ENFILE, libc::ENOMEM].contains(&Errno::last().code());
    if let Some(page) = page {
        let start = page.start().cast_mut();
        if PAGE.compare_exchange(core::ptr::null_mut(), start, Ordering::Release, Ordering::Relaxed).is_ok() {
            page.leak();
        }
    }
    WAS_SEARCHED.store(is_answered, Ordering::Relaxed);
}

/// The marker; `None` where there is no page, and while it is being changed.
#[inline]
pub(super) fn disruption_marker() -> Option<u64> {
    let page = PAGE.load(Ordering::Acquire).cast::<Layout>();
    // SAFETY: `map` has checked that the page holds such a structure; it is never unmapped.
    unsafe { page.as_ref() }.and_then(marker)
}

/// Reads the marker under the sequence lock. The hypervisor may stop in the middle of a change, so
/// that nobody waits for it.
fn marker(page: &Layout) -> Option<u64> {
    const TRIES: u32 = 4;
    (0..TRIES).find_map(|_| {
        let before = page.sequence.load(Ordering::Relaxed);
        fence(Ordering::Acquire);
        let [low, high] = [0, 1].map(|half| u32::from_le(page.disruption_marker[half].load(Ordering::Relaxed)));
        fence(Ordering::Acquire);
        let after = page.sequence.load(Ordering::Relaxed);
        (before == after && u32::from_le(before) & 1 == 0).then(|| u64::from(high) << 32 | u64::from(low))
    })
}

/// Maps the page that this file offers, read-only; `None` if there is none of a known layout.
fn map(path: &CStr) -> Option<MappedPage> {
    // SAFETY: a string that ends with 0. Whatever is there is not waited for.
    let file =
        unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY) };
    if file < 0 {
        return None;
    }
    let page = if is_long_enough(file) { map_file(file) } else { None };
    // SAFETY: opened above; a mapping does not need it any more.
    unsafe { libc::close(file) };
    page
}

/// Returns true if the file may be mapped: reading a page beyond the end of an ordinary file is
/// fatal.
fn is_long_enough(file: libc::c_int) -> bool {
    let mut status = core::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: fstat fills the structure, for which all zero is a value, too.
    let status = unsafe {
        if libc::fstat(file, status.as_mut_ptr()) != 0 {
            return false;
        }
        status.assume_init()
    };
    #[allow(clippy::useless_conversion, reason = "16 bits wide on 32-bit Android")]
    let [kinds, device, ordinary] = [libc::S_IFMT, libc::S_IFCHR, libc::S_IFREG].map(u32::from);
    let kind = status.st_mode & kinds;
    // An ordinary file: as in tests. Whoever shortens it later has this process end by SIGBUS.
    let is_long = u64::try_from(status.st_size).is_ok_and(|size| size >= u64::from(MIN_STRUCTURE_BYTES));
    kind == device || kind == ordinary && is_long
}

fn map_file(file: libc::c_int) -> Option<MappedPage> {
    // SAFETY: the caller closes the file after this.
    let page = MappedPage::new(unsafe { BorrowedFd::borrow_raw(file) }).ok()?;
    // SAFETY: a page is mapped there, and is longer than the structure, whose fields are numbers.
    let is_known = unsafe { is_known(&*page.start().cast::<Layout>()) };
    is_known.then_some(page)
}

fn is_known(page: &Layout) -> bool {
    let [magic, version, size] =
        [&page.magic, &page.version_and_kinds, &page.size].map(|field| u32::from_le(field.load(Ordering::Relaxed)));
    // The version is in the lower half of its word; counter and kind of time are in the upper.
    magic == MAGIC && version & 0xffff == VERSION && size >= MIN_STRUCTURE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileExt;

    /// A file of the layout, as a hypervisor fills it.
    fn bytes(magic: u32, version: u16, sequence: u32, marker: u64) -> Vec<u8> {
        let mut page = vec![0; 4096];
        page[0..4].copy_from_slice(&magic.to_le_bytes());
        page[4..8].copy_from_slice(&4096u32.to_le_bytes());
        page[8..10].copy_from_slice(&version.to_le_bytes());
        page[10..12].copy_from_slice(&[1, 0]);
        page[12..16].copy_from_slice(&sequence.to_le_bytes());
        page[16..24].copy_from_slice(&marker.to_le_bytes());
        page
    }

    fn mapped(name: &str, content: &[u8]) -> (std::fs::File, Option<MappedPage>) {
        let path = std::env::temp_dir().join(format!("clockscope-vmclock-{name}-{}", std::process::id()));
        std::fs::write(&path, content).expect("a temporary file");
        let file = std::fs::OpenOptions::new().write(true).open(&path).expect("the file");
        let page = map(&CString::new(path.as_os_str().as_bytes()).expect("a path"));
        std::fs::remove_file(&path).expect("the file");
        (file, page)
    }

    #[test]
    fn the_marker_is_read_under_the_sequence_lock() {
        let (file, page) = mapped("lock", &bytes(MAGIC, 1, 6, 42));
        let page = page.expect("a page of the layout");
        // SAFETY: the page is mapped and known, and stays so.
        let page = unsafe { &*page.start().cast::<Layout>() };
        assert_eq!(marker(page), Some(42));
        let write = |offset, bytes: &[u8]| file.write_all_at(bytes, offset).expect("the file is written to");
        write(12, &7u32.to_le_bytes());
        write(16, &43u64.to_le_bytes());
        assert_eq!(marker(page), None, "it is being changed");
        write(12, &8u32.to_le_bytes());
        assert_eq!(marker(page), Some(43));
    }

    #[test]
    fn other_layouts_are_not_mapped() {
        let sound = bytes(MAGIC, 1, 0, 1);
        let mut short = sound.clone();
        short[4..8].copy_from_slice(&64u32.to_le_bytes());
        let others: [(&str, &[u8]); 5] = [
            ("magic", &bytes(MAGIC + 1, 1, 0, 1)),
            ("version", &bytes(MAGIC, 2, 0, 1)),
            ("size", &short),
            ("end", &sound[..100]),
            ("empty", &[]),
        ];
        for (name, content) in others {
            assert!(mapped(name, content).1.is_none(), "{name}");
        }
        assert!(map(c"/nonexistent/vmclock0").is_none());
        assert!(map(c"/dev/null").is_none());
    }
}
