//! The functions that `include/clockscope_stamps.h` declares.

#![allow(unsafe_code, reason = "exported names and the caller's pointers have no safe form")]

use core::ffi::{c_char, c_int};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use clockscope::stamps::{self, Stamp, Stamps};

use super::store;
use super::wall::write_ends;
use crate::answers::{CallFailure, OK, guarded, whole_ns};

/// The counter of stamps, from its first acceptance on. Not a `OnceLock`: a child that is forked
/// while another thread sets it would wait for that thread without end.
static COUNTER: AtomicPtr<Stamps> = AtomicPtr::new(ptr::null_mut());

/// Begins the history of stamps: [`stamps::counter`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_stamps_counter() -> c_int {
    guarded(|| {
        let accepted = stamps::counter()?;
        if COUNTER.load(Ordering::Acquire).is_null() {
            COUNTER.store(Box::leak(Box::new(accepted)), Ordering::Release);
        }
        Ok(OK)
    })
}

/// Continues the history: [`stamps::renew`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_stamps_renew() -> c_int {
    guarded(|| Ok(stamps::renew().map(|()| OK)?))
}

/// Stores the moment of a stamp in ns, and its error bound unless that pointer is NULL.
///
/// # Safety
/// Each pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_stamp_instant(stamp: u64, ns: *mut u64, error_ns: *mut u64) -> c_int {
    let convert = || {
        let (instant, error) = counter()?.instant_with_bound(Stamp::from_count(stamp))?;
        if !error_ns.is_null() {
            // SAFETY: it is not NULL, and the caller promises that it may be written.
            unsafe { error_ns.write(whole_ns(error)) };
        }
        Ok(instant.as_ns())
    };
    // SAFETY: as the caller promises.
    unsafe { store(ns, convert) }
}

/// Stores the time of day at a stamp, in ns since the Unix epoch.
///
/// # Safety
/// The pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_stamp_wall(stamp: u64, unix_ns: *mut i64) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(unix_ns, || Ok(counter()?.wall(Stamp::from_count(stamp))?.as_unix_ns())) }
}

/// Stores the ends of the interval of true time at a stamp in ns since the Unix epoch, and returns
/// its state.
///
/// # Safety
/// Each pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_stamp_bounded(stamp: u64, earliest: *mut i64, latest: *mut i64) -> c_int {
    if earliest.is_null() || latest.is_null() {
        return CallFailure::Null.code();
    }
    guarded(|| {
        let interval = counter()?.bounded(Stamp::from_count(stamp))?;
        // SAFETY: neither is NULL, and the caller promises that both may be written.
        unsafe { write_ends([interval.earliest, interval.latest], earliest, latest) };
        Ok(interval.state as c_int)
    })
}

/// Stores the moments of stamps in ns, up to the first one that has none, and returns their number.
///
/// # Safety
/// Each pointer is NULL or the address of `count` words: of stamps, and of words that may be
/// written. Both may be the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_stamp_instants(counts: *const u64, ns: *mut u64, count: usize) -> usize {
    if counts.is_null() || ns.is_null() {
        return 0;
    }
    let mut converted = 0;
    // The number shows a failure. The reason is that of the next stamp, converted alone.
    guarded(|| {
        // SAFETY: the caller promises `count` stamps. Each is read before it is written.
        let each = (0..count).map(|index| Stamp::from_count(unsafe { counts.add(index).read() }));
        for instant in counter()?.instants(each) {
            let instant = instant?;
            // SAFETY: no more moments than stamps.
            unsafe { ns.add(converted).write(instant.as_ns()) };
            converted += 1;
        }
        Ok(OK)
    });
    converted
}

/// Stores the header of a stamp file, from a stamp to now, and a zero byte behind it. Returns 1, or
/// 0 where it does not fit; stores its size in both cases.
///
/// # Safety
/// `text` is NULL or the address of `*size` bytes that may be written; `size` is NULL or that of a
/// word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_stamps_header(from: u64, text: *mut c_char, size: *mut usize) -> c_int {
    // SAFETY: as the caller promises.
    let Some(size) = (unsafe { size.as_mut() }) else { return CallFailure::Null.code() };
    guarded(|| {
        let header = counter()?.header(Stamp::from_count(from))?.to_string();
        let needed = header.len() + 1;
        let fits = !text.is_null() && needed <= *size;
        if fits {
            // SAFETY: the caller promises that there are `*size` bytes, which are no fewer than the
            // header's with the zero byte. No part of the header is the caller's memory.
            unsafe {
                ptr::copy_nonoverlapping(header.as_ptr().cast(), text, header.len());
                text.add(header.len()).write(0);
            }
        }
        *size = needed;
        Ok(c_int::from(fits))
    })
}

/// Returns the counter of stamps.
fn counter() -> Result<Stamps, CallFailure> {
    // SAFETY: it is NULL, or was leaked and stays.
    let accepted = unsafe { COUNTER.load(Ordering::Acquire).as_ref() };
    accepted.copied().ok_or(CallFailure::NoHistory)
}
