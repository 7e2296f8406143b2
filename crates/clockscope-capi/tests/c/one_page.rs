//! C code in a process of Rust: both read one page, and are on one timeline.

#![allow(unsafe_code, reason = "C code that is loaded has no safe form")]

use std::ffi::{CString, c_uint, c_void};
use std::mem::{offset_of, size_of, transmute_copy};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crate::toolchain::{Folder, has, program};
use clockscope::{Demotion, Source, WallState, boot, wall};
use clockscope_c::exports::wall::AnchorNs;
use clockscope_c::{Advice, BoundNs, CallFailure, EvidenceItem, FrequencyRange, exports};
use clockscope_testing::skip;
use serial_test::serial;

/// The library that the probe calls where its readings are not inlined.
#[repr(C)]
struct Library {
    page: *const u64,
    now: extern "C" fn() -> u64,
    now_unordered: extern "C" fn() -> u64,
    wall_now: extern "C" fn() -> i64,
    boot_now: extern "C" fn() -> u64,
}

/// The probe, which stays loaded.
#[derive(Clone, Copy)]
struct Probe {
    calls: extern "C" fn(c_uint) -> u64,
    now: extern "C" fn() -> u64,
    now_unordered: extern "C" fn() -> u64,
    wall_now: extern "C" fn() -> i64,
    boot_now: extern "C" fn() -> u64,
    hammer: extern "C" fn(*const AtomicU64, u64) -> u64,
    layout: unsafe extern "C" fn(*mut u64) -> usize,
}

/// Kinds of readings, as probe.c counts them.
const NOW: c_uint = 0;
const NOW_UNORDERED: c_uint = 1;
const WALL_NOW: c_uint = 2;
const BOOT_NOW: c_uint = 3;

/// Compiles and loads the probe, which reads the library's page. `None` without a compiler.
fn probe(level: &str) -> Option<Probe> {
    probe_of(level, exports::clockscope_page_v1())
}

/// Compiles and loads the probe, which reads this page. `None` without a compiler.
fn probe_of(level: &str, page: *const u64) -> Option<Probe> {
    if !has("gcc") {
        skip("gcc is not installed");
        return None;
    }
    let folder = Folder::new();
    let arguments = ["-std=c99", level, "-shared", "-fPIC"];
    let library = folder.compile("gcc", &arguments, &program("probe.c"), "probe.so");
    let path = CString::new(library.to_str().expect("a path of UTF-8")).expect("no zero byte");
    // SAFETY: the probe has no constructors.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!handle.is_null(), "{path:?} cannot be loaded");
    // SAFETY: these are the functions of probe.c, with their types, and never unloaded.
    unsafe {
        let bind: unsafe extern "C" fn(*const Library) = function(handle, "probe_bind");
        bind(&Library {
            page,
            now: exports::clockscope_now_call,
            now_unordered: exports::clockscope_now_unordered_call,
            wall_now: exports::clockscope_wall_now_call,
            boot_now: exports::clockscope_boot_now_call,
        });
        Some(Probe {
            calls: function(handle, "probe_calls"),
            now: function(handle, "probe_now"),
            now_unordered: function(handle, "probe_now_unordered"),
            wall_now: function(handle, "probe_wall_now"),
            boot_now: function(handle, "probe_boot_now"),
            hammer: function(handle, "probe_hammer"),
            layout: function(handle, "probe_layout"),
        })
    }
}

/// Returns a function of a loaded library.
///
/// # Safety
/// It has the type `F`, a function pointer.
unsafe fn function<F: Copy>(handle: *mut c_void, name: &str) -> F {
    let name = CString::new(name).expect("no zero byte");
    // SAFETY: the handle is a loaded library's.
    let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
    assert!(!address.is_null(), "{name:?} is missing");
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: as the caller promises; both have one size.
    unsafe { transmute_copy(&address) }
}

/// A reading in C is between the readings in Rust before and after it, inlined or not.
#[test]
#[serial]
fn readings_in_c_are_between_those_in_rust() {
    /// More than a processor reorders, in ns. An interruption widens the interval between the two
    /// ordered readings, and moves nothing out of it.
    const REORDERED_NS: u64 = 100_000;
    const TURNS: u64 = 500_000;
    for level in ["-O0", "-O2"] {
        let Some(probe) = probe(level) else { return };
        for _ in 0..TURNS {
            let (first, c, last) = (clockscope::now().as_ns(), (probe.now)(), clockscope::now().as_ns());
            assert!(first <= c && c <= last, "{first} {c} {last}");
            let unordered = (probe.now_unordered)();
            let end = clockscope::now().as_ns();
            let (first, c, last_boot) = (boot::now().as_ns(), (probe.boot_now)(), boot::now().as_ns());
            assert!(first <= c && c <= last_boot, "{first} {c} {last_boot}");
            assert!(last <= unordered + REORDERED_NS && unordered <= end + REORDERED_NS, "{last} {unordered} {end}");
        }
        for kind in [NOW, NOW_UNORDERED, BOOT_NOW] {
            let inlined = TURNS - (probe.calls)(kind);
            println!("{level}: {inlined} of {TURNS} readings of kind {kind} were inlined");
            assert!(inlined > 0 || clockscope::source() != Source::Counter);
        }
    }
}

/// Without a line each reading calls the library's function of its own kind, and no other.
#[test]
#[serial]
fn a_reading_that_is_not_inlined_calls_its_own_function() {
    static NO_LINE: [u64; 84] = [0; 84];
    let Some(probe) = probe_of("-O2", NO_LINE.as_ptr()) else { return };
    for _ in 0..3 {
        (probe.now)();
    }
    for _ in 0..5 {
        (probe.now_unordered)();
    }
    for _ in 0..7 {
        (probe.wall_now)();
    }
    for _ in 0..9 {
        (probe.boot_now)();
    }
    assert_eq!([NOW, NOW_UNORDERED, WALL_NOW, BOOT_NOW].map(|kind| (probe.calls)(kind)), [3, 5, 7, 9]);
}

/// The time of day in C is between readings in Rust, unless the clock is set meanwhile.
#[test]
#[serial]
fn time_of_day_in_c_is_between_that_in_rust() {
    let Some(probe) = probe("-O2") else { return };
    for _ in 0..200 {
        let generation = wall::generation();
        let between = (0..1000).all(|_| {
            let (first, c, last) = (wall::now().as_unix_ns(), (probe.wall_now)(), wall::now().as_unix_ns());
            first <= c && c <= last
        });
        assert!(between || wall::generation() != generation);
    }
}

/// A thread in C and one in Rust hand their readings to each other: 10^8, or as many as
/// `CLOCKSCOPE_ORDER_READS` asks for.
#[test]
#[serial]
fn no_reading_goes_back_between_c_and_rust() {
    let reads = std::env::var("CLOCKSCOPE_ORDER_READS").ok();
    let turns = reads.map_or(100_000_000, |reads| reads.parse::<u64>().expect("a number")) / 2;
    let Some(probe) = probe("-O2") else { return };
    let last = AtomicU64::new(0);
    let before = (probe.calls)(NOW);
    let (in_c, in_rust) = thread::scope(|scope| {
        let c = scope.spawn(|| (probe.hammer)(&raw const last, turns));
        let rust = scope.spawn(|| {
            let mut regressions = 0u64;
            for _ in 0..turns {
                let known = last.load(Ordering::Acquire);
                let now = clockscope::now().as_ns();
                regressions += u64::from(now < known);
                last.store(now, Ordering::Release);
            }
            regressions
        });
        (c.join().unwrap(), rust.join().unwrap())
    });
    assert_eq!((in_c, in_rust), (0, 0));
    let inlined = turns - ((probe.calls)(NOW) - before);
    println!("{inlined} of {turns} readings in C were inlined");
    assert!(inlined > 0 || clockscope::source() != Source::Counter);
}

/// Place and size of a member.
macro_rules! field {
    ($of:ty, $member:ident) => {
        [offset_of!($of, $member), size_of_member(|whole: &$of| &whole.$member)]
    };
}

fn size_of_member<T, F>(_: fn(&T) -> &F) -> usize {
    size_of::<F>()
}

/// Structures and numbers are the same in the headers and here.
#[test]
#[serial]
fn the_header_has_the_layout_of_the_library() {
    let Some(probe) = probe("-O0") else { return };
    let ours: Vec<usize> = [
        &[size_of::<BoundNs>()] as &[usize],
        &field!(BoundNs, now_ns),
        &field!(BoundNs, largest_ns),
        &field!(BoundNs, largest_at_ns),
        &[size_of::<AnchorNs>()],
        &field!(AnchorNs, offset_ns),
        &field!(AnchorNs, bound_ns),
        &field!(AnchorNs, generation),
        &[size_of::<FrequencyRange>()],
        &field!(FrequencyRange, hz),
        &field!(FrequencyRange, lowest_hz),
        &field!(FrequencyRange, highest_hz),
        &field!(FrequencyRange, window_ns),
        &[size_of::<Advice>()],
        &field!(Advice, overhead_ns),
        &field!(Advice, resolution_ns),
        &field!(Advice, jitter_ns),
        &field!(Advice, reading_error),
        &field!(Advice, repetitions),
        &[size_of::<EvidenceItem>()],
        &field!(EvidenceItem, name),
        &field!(EvidenceItem, seen),
        &field!(EvidenceItem, word),
        &field!(EvidenceItem, unit),
        &field!(EvidenceItem, source),
        &field!(EvidenceItem, advice),
        &field!(EvidenceItem, figure),
        &field!(EvidenceItem, has_figure),
        &field!(EvidenceItem, finding),
        &[-CallFailure::Null.code() as usize],
        &[-CallFailure::NoClock.code() as usize],
        &[-CallFailure::Unknown.code() as usize],
        &[-CallFailure::Panicked.code() as usize],
        &[-CallFailure::Argument.code() as usize],
        &[-CallFailure::NoCounter.code() as usize],
        &[-CallFailure::NotInvariant.code() as usize],
        &[-CallFailure::NotUsed.code() as usize],
        &[-CallFailure::NotCompared.code() as usize],
        &[-CallFailure::NoHistory.code() as usize],
        &[-CallFailure::BeforeHistory.code() as usize],
        &[-CallFailure::Future.code() as usize],
        &[-CallFailure::Gap.code() as usize],
        &[-CallFailure::CounterWentBack.code() as usize],
        &[-CallFailure::NoWallTime.code() as usize],
        &[-CallFailure::GivenUp.code() as usize],
        &[-CallFailure::Busy.code() as usize],
        &[-CallFailure::System.code() as usize],
        &[-CallFailure::TimeLimit.code() as usize],
        &[0],
        &Demotion::ALL.map(|reason| reason as usize),
        &[WallState::Synchronized as usize],
        &[WallState::WhileNotSlewing as usize],
        &[WallState::LeapSecond as usize],
        &[WallState::Slewing as usize],
        &[WallState::Worthless as usize],
        &[WallState::Unsynchronized as usize],
        &[WallState::Unavailable as usize],
    ]
    .concat();
    let mut theirs = [u64::MAX; 128];
    // SAFETY: the probe writes as many figures as it lists, less than there is room for.
    let count = unsafe { (probe.layout)(theirs.as_mut_ptr()) };
    assert_eq!(theirs[..count], ours.iter().map(|figure| *figure as u64).collect::<Vec<_>>());
}
