//! The functions that `include/clockscope_upkeep.h` declares.

#![allow(unsafe_code, reason = "exported names and the caller's pointers have no safe form")]

use core::ffi::c_int;
use core::time::Duration;

use clockscope::Upkeep;

use super::store;
use crate::answers::{CallFailure, OK, guarded};

/// Starts an upkeep: [`Upkeep::start`].
///
/// # Safety
/// The pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_upkeep_start(period_ns: u64, upkeep: *mut *mut Upkeep) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        store(upkeep, || match Upkeep::start(Duration::from_nanos(period_ns)) {
            Ok(upkeep) => Ok(Box::into_raw(Box::new(upkeep))),
            Err(_) => Err(CallFailure::System),
        })
    }
}

/// Returns [`Upkeep::recent`] in ns; [`clockscope::now`] if there is no upkeep.
///
/// # Safety
/// The pointer is NULL or an upkeep of [`clockscope_upkeep_start`] that is not stopped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_upkeep_recent(upkeep: *const Upkeep) -> u64 {
    // SAFETY: as the caller promises.
    let upkeep = unsafe { upkeep.as_ref() };
    upkeep.map_or_else(clockscope::now, Upkeep::recent).as_signed_ns() as u64
}

/// Returns [`Upkeep::is_running`] as 0 or 1.
///
/// # Safety
/// As [`clockscope_upkeep_recent`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_upkeep_is_running(upkeep: *const Upkeep) -> c_int {
    // SAFETY: as the caller promises.
    let Some(upkeep) = (unsafe { upkeep.as_ref() }) else { return CallFailure::Null.code() };
    guarded(|| Ok(c_int::from(upkeep.is_running())))
}

/// Ends an upkeep of [`clockscope_upkeep_start`], and frees it.
///
/// # Safety
/// The pointer is NULL or such an upkeep, which nothing uses any longer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_upkeep_stop(upkeep: *mut Upkeep) -> c_int {
    if upkeep.is_null() {
        return CallFailure::Null.code();
    }
    guarded(|| {
        // SAFETY: the caller promises that it is of `clockscope_upkeep_start`, and stopped once.
        drop(unsafe { Box::from_raw(upkeep) });
        Ok(OK)
    })
}
