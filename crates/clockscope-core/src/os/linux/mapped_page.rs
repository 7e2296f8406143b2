//! A page of a file, mapped read-only.

#![allow(unsafe_code, reason = "mmap and munmap are about raw memory")]

use core::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::Errno;

/// The first page of a file or device, mapped read-only until this is dropped.
#[derive(Debug)]
pub struct MappedPage(*mut c_void);

/// The kernel rounds it up to a page, wherever pages are longer.
const LENGTH: usize = 4096;

impl Drop for MappedPage {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length; nobody else unmaps it.
        unsafe { libc::munmap(self.0, LENGTH) };
    }
}

impl MappedPage {
    /// Maps the page.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn new(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let (file, none) = (file.as_raw_fd(), core::ptr::null_mut());
        // SAFETY: a new read-only mapping at an address of the kernel's choice.
        let page = unsafe { libc::mmap(none, LENGTH, libc::PROT_READ, libc::MAP_SHARED, file, 0) };
        if page == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(Self(page)) }
    }

    /// Returns where the page begins. Others may write it at any time.
    #[must_use]
    pub fn start(&self) -> *const c_void {
        self.0
    }

    /// Keeps the page mapped for the rest of the process.
    pub(super) fn leak(self) {
        core::mem::forget(self);
    }
}
