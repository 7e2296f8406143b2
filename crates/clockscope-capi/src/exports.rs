//! The functions that `include/clockscope.h` declares, and in modules those of the other headers.
//!
//! Every exported symbol is here: `tests/symbols.txt` lists them.

#![allow(unsafe_code, reason = "exported names and the caller's pointers have no safe form")]

pub mod stamps;
pub mod upkeep;
pub mod wall;

use core::ffi::{c_char, c_int, c_void};
use core::time::Duration;

use clockscope::{Clock, Evidence, FakeClock, Instant, layout};

use crate::advice::{Advice, Readings, check, spin};
use crate::answers::{BoundNs, CallFailure, FrequencyRange, OK, describe, guarded, source_number, whole_ns};
use crate::item::{EvidenceItem, Texts, Visit};

/// The page's format that [`clockscope_page_v1`] serves.
const FORMAT: u64 = 1;

/// The library's version, with the zero byte that ends it.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// Returns the time now in ns, ordered: [`clockscope::now`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_now() -> u64 {
    clockscope::now().as_signed_ns() as u64
}

/// Returns what [`clockscope_now`] returns: what the header's inlined reading calls.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_now_call() -> u64 {
    clockscope::now().as_signed_ns() as u64
}

/// Returns the time now in ns after all earlier stores are visible:
/// [`clockscope::now_after_stores`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_now_after_stores() -> u64 {
    clockscope::now_after_stores().as_signed_ns() as u64
}

/// Returns the time now in ns by a bare read of the counter: [`clockscope::now_unordered`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_now_unordered() -> u64 {
    clockscope::now_unordered().as_signed_ns() as u64
}

/// Returns what [`clockscope_now_unordered`] returns: what the header's inlined reading calls.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_now_unordered_call() -> u64 {
    clockscope::now_unordered().as_signed_ns() as u64
}

/// Stores [`clockscope::try_now`] in ns.
///
/// # Safety
/// The pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_try_now(ns: *mut u64) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        store(ns, || match clockscope::try_now() {
            Ok(now) => Ok(now.as_signed_ns() as u64),
            Err(_) => Err(CallFailure::NoClock),
        })
    }
}

/// Returns the time of day in ns since the Unix epoch: [`clockscope::wall::now`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_wall_now() -> i64 {
    clockscope::wall::now().as_unix_ns()
}

/// Returns what [`clockscope_wall_now`] returns: what the header's inlined reading calls.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_wall_now_call() -> i64 {
    clockscope::wall::now().as_unix_ns()
}

/// Returns the time since the machine was started in ns, suspends included:
/// [`clockscope::boot::now`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_boot_now() -> u64 {
    clockscope::boot::now().as_signed_ns() as u64
}

/// Returns what [`clockscope_boot_now`] returns: what the header's inlined reading calls.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_boot_now_call() -> u64 {
    clockscope::boot::now().as_signed_ns() as u64
}

/// Stores [`clockscope::boot::error_bound`].
///
/// # Safety
/// The pointer is NULL or the address of a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_boot_error_bound(bound: *mut BoundNs) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(bound, || clockscope::boot::error_bound().map(BoundNs::from).ok_or(CallFailure::NoClock)) }
}

/// Returns [`clockscope::boot::counts_suspends`] as 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_boot_counts_suspends() -> c_int {
    guarded(|| Ok(c_int::from(clockscope::boot::counts_suspends())))
}

/// Returns the number of [`clockscope::source`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_source() -> c_int {
    guarded(|| source_number(clockscope::source()))
}

/// Returns the number of [`clockscope::demotion`], or 0.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_demotion() -> c_int {
    guarded(|| Ok(clockscope::demotion().map_or(0, |reason| reason as c_int)))
}

/// Stores [`clockscope::error_bound`].
///
/// # Safety
/// The pointer is NULL or the address of a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_error_bound(bound: *mut BoundNs) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(bound, || clockscope::error_bound().map(BoundNs::from).ok_or(CallFailure::NoClock)) }
}

/// Returns [`clockscope::generation`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_generation() -> u64 {
    clockscope::generation()
}

/// Returns [`clockscope::timeline_offset`] in ns.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_timeline_offset() -> u64 {
    whole_ns(clockscope::timeline_offset())
}

/// Stores [`clockscope::frequency`].
///
/// # Safety
/// The pointer is NULL or the address of a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_frequency(frequency: *mut FrequencyRange) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(frequency, || clockscope::frequency().map(FrequencyRange::from).ok_or(CallFailure::Unknown)) }
}

/// Stores [`clockscope::resolution`] in ns.
///
/// # Safety
/// The pointer is NULL or the address of a word that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_resolution(ns: *mut u64) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(ns, || clockscope::resolution().map(whole_ns).ok_or(CallFailure::Unknown)) }
}

/// Calls `visit` for each piece of [`clockscope::evidence`], and returns how often it did.
///
/// # Safety
/// `visit` is NULL or a function that returns, and neither throws nor jumps out; `context` is
/// what it expects.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_evidence(visit: Option<Visit>, context: *mut c_void) -> c_int {
    let Some(visit) = visit else { return CallFailure::Null.code() };
    guarded(|| {
        let evidence = clockscope::evidence();
        // SAFETY: as the caller promises.
        Ok(unsafe { visit_each(&evidence, visit, context) })
    })
}

/// Calls [`clockscope::prepare`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_prepare() -> c_int {
    guarded(|| {
        clockscope::prepare();
        Ok(OK)
    })
}

/// Returns [`clockscope::recheck`] as 0 or 1.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_recheck() -> c_int {
    guarded(|| Ok(c_int::from(clockscope::recheck())))
}

/// Calls [`clockscope::survive_disabled_counter`].
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_survive_disabled_counter() -> c_int {
    guarded(|| clockscope::survive_disabled_counter().map(|()| OK).map_err(|_| CallFailure::System))
}

/// Calls [`clockscope::revalidate`], calls `visit` for each piece of its evidence, and returns
/// whether the counter passed: 0 or 1.
///
/// # Safety
/// As [`clockscope_evidence`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_revalidate(visit: Option<Visit>, context: *mut c_void) -> c_int {
    let Some(visit) = visit else { return CallFailure::Null.code() };
    guarded(|| {
        let answer = clockscope::revalidate();
        // SAFETY: as the caller promises.
        unsafe { visit_each(&answer.evidence, visit, context) };
        Ok(c_int::from(answer.passed))
    })
}

/// Stores how often to repeat what takes `interval_ns`, so that its time is right within `error`.
///
/// # Safety
/// The pointer is NULL or the address of a structure that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_advise(interval_ns: u64, error: f64, advice: *mut Advice) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { store(advice, || advise(interval_ns, error)) }
}

fn advise(interval_ns: u64, error: f64) -> Result<Advice, CallFailure> {
    check(interval_ns, error)?;
    let resolution = clockscope::resolution().ok_or(CallFailure::Unknown)?;
    // `resolution` has calibrated the clock, which readings alone would do later.
    let readings = Readings::take(|| clockscope::now().as_ns(), spin(interval_ns));
    Ok(readings.advise(whole_ns(resolution) as f64, interval_ns, error))
}

/// Returns a clock that a test sets: a [`FakeClock`] at zero, which each reading advances.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_manual_new(step_ns: u64) -> *mut FakeClock {
    Box::into_raw(Box::new(FakeClock::auto_advancing(Duration::from_nanos(step_ns))))
}

/// Frees a clock of [`clockscope_manual_new`].
///
/// # Safety
/// The pointer is NULL or such a clock, which nothing uses any longer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_manual_free(clock: *mut FakeClock) -> c_int {
    if clock.is_null() {
        return CallFailure::Null.code();
    }
    // SAFETY: the caller promises that it is of `clockscope_manual_new`, and freed once.
    drop(unsafe { Box::from_raw(clock) });
    OK
}

/// Stores the time of a manual clock in ns.
///
/// # Safety
/// The pointers are NULL, or a clock of [`clockscope_manual_new`] and the address of a word that
/// may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_manual_now(clock: *const FakeClock, ns: *mut u64) -> c_int {
    // SAFETY: as the caller promises.
    let Some(clock) = (unsafe { clock.as_ref() }) else { return CallFailure::Null.code() };
    // SAFETY: as the caller promises.
    unsafe { store(ns, || Ok(clock.now().as_ns())) }
}

/// Advances a manual clock by `ns` nanoseconds, at most to the timeline's end.
///
/// # Safety
/// The pointer is NULL or a clock of [`clockscope_manual_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_manual_advance(clock: *const FakeClock, ns: u64) -> c_int {
    // SAFETY: as the caller promises.
    let Some(clock) = (unsafe { clock.as_ref() }) else { return CallFailure::Null.code() };
    guarded(|| {
        clock.advance(Duration::from_nanos(ns));
        Ok(OK)
    })
}

/// Sets a manual clock. Returns 1, or 0 where the moment is in its past.
///
/// # Safety
/// The pointer is NULL or a clock of [`clockscope_manual_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clockscope_manual_set(clock: *const FakeClock, ns: u64) -> c_int {
    // SAFETY: as the caller promises.
    let Some(clock) = (unsafe { clock.as_ref() }) else { return CallFailure::Null.code() };
    guarded(|| Ok(c_int::from(clock.set(Instant::from_ns(ns)))))
}

/// The answer of a library of another format in place of a page of format 1. It never has a line,
/// so that each reading is a call.
static NO_LINE: [u64; layout::SIZE / 8] = [0; layout::SIZE / 8];

/// Returns the address of the page of format 1; in a library of another format, one without a line.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_page_v1() -> *const u64 {
    if layout::FORMAT == FORMAT { clockscope::page().as_ptr() } else { NO_LINE.as_ptr() }
}

/// Returns a text that describes a code.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_strerror(code: c_int) -> *const c_char {
    describe(code).as_ptr()
}

/// Returns the library's version.
#[unsafe(no_mangle)]
pub extern "C" fn clockscope_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// Stores what `answer` returns, unless it fails.
///
/// # Safety
/// `out` is NULL or may be written.
unsafe fn store<T>(out: *mut T, answer: impl FnOnce() -> Result<T, CallFailure>) -> c_int {
    if out.is_null() {
        return CallFailure::Null.code();
    }
    guarded(|| {
        let answer = answer()?;
        // SAFETY: it is not NULL, and the caller promises that it may be written.
        unsafe { out.write(answer) };
        Ok(OK)
    })
}

/// Calls `visit` for each piece until it returns something else than 0. Returns the number of
/// calls.
///
/// # Safety
/// `visit` may be called with `context`.
unsafe fn visit_each(evidence: &[Evidence], visit: Visit, context: *mut c_void) -> c_int {
    let mut visited = 0;
    for piece in evidence {
        let texts = Texts::from_evidence(piece);
        let item: EvidenceItem = texts.item();
        visited += 1;
        // SAFETY: as the caller promises; the item and its texts are there until after the call.
        if unsafe { visit(&raw const item, context) } != 0 {
            break;
        }
    }
    visited
}
