//! The page by its words, as docs/concepts/library/page.md describes them to programs in other
//! languages.

use std::sync::atomic::{Ordering, fence};

use clockscope::{SharedPage, Source, boot, layout, wall};
use clockscope_core::counter;

const BESIDE_BYTES: usize = 64;
const SEGMENT_BYTES: usize = 32;

fn load(page: SharedPage, byte: usize) -> u64 {
    page.load(byte, Ordering::Relaxed)
}

/// Findings of a reader: the time, the wall clock's and the boot clock's, and the interval of
/// bounded time.
#[derive(Debug)]
struct Read {
    ns: u64,
    wall_ns: Option<i64>,
    boot_ns: Option<i64>,
    bounds: Option<(i64, i64)>,
}

/// The seven steps of the documentation. `None` where it says to read the OS clock.
fn read(page: SharedPage) -> Option<Read> {
    assert_eq!(load(page, layout::FORMAT_WORD), layout::FORMAT);
    let version = page.load(layout::VERSION, Ordering::Acquire);
    if version >> 63 == 0 {
        return None;
    }
    let segment = layout::SEGMENT_0 + SEGMENT_BYTES * (version >> 5 & 7) as usize;
    let beside = layout::BESIDE_0 + BESIDE_BYTES * (version >> 6 & 3) as usize;
    let [start, packed, value, slope] = [0, 8, 16, 24].map(|word| load(page, segment + word));
    let [wall, since, lasts, earliest, earliest_slope, latest, latest_slope, boot] =
        [0, 8, 16, 24, 32, 40, 48, 56].map(|word| load(page, beside + word));
    let floor = load(page, layout::FLOOR);
    let tick = counter::after();
    fence(Ordering::Acquire);
    if load(page, layout::VERSION) != version {
        return None;
    }
    let t = tick.wrapping_sub(start);
    assert_eq!(packed as u32, start as u32);
    let ns = value.wrapping_add(t.wrapping_mul(slope) >> 32);
    if t >= packed >> 32 || ns < floor {
        return None;
    }
    let later = tick.wrapping_sub(since);
    let end = |end: u64, slope: u64| end.wrapping_add(later.wrapping_mul(slope) >> 32) as i64;
    Some(Read {
        ns,
        wall_ns: (wall != 0).then(|| ns.wrapping_add(wall) as i64),
        boot_ns: (boot != 0).then(|| ns.wrapping_add(boot) as i64),
        bounds: (later < lasts >> 8).then(|| (end(earliest, earliest_slope), end(latest, latest_slope))),
    })
}

/// Whoever reads by the words alone gets the time that the library gives before and after.
#[test]
fn whoever_reads_the_words_reads_the_time() {
    let page = clockscope::page();
    let (mut times, mut walls, mut boots, mut bounds) = (0u32, 0u32, 0u32, 0u32);
    for _ in 0..2_000_000 {
        let generation = clockscope::generation();
        let (first, wall, bounded) = (clockscope::now(), wall::now(), clockscope::bounded::now());
        let first_boot = boot::now().as_signed_ns();
        let Some(found) = read(page) else { continue };
        let (last, last_boot) = (clockscope::now(), boot::now().as_signed_ns());
        if clockscope::generation() != generation {
            continue;
        }
        times += 1;
        assert!(first.as_ns() <= found.ns && found.ns <= last.as_ns(), "{first:?} {found:?} {last:?}");
        if let Some(wall_ns) = found.wall_ns {
            walls += 1;
            // A set is seen by one of both first.
            let is_set = wall::now().as_unix_ns() < wall_ns;
            assert!(wall.as_unix_ns() <= wall_ns || is_set, "{wall:?} {found:?}");
        }
        if let Some(boot_ns) = found.boot_ns {
            boots += 1;
            assert!(first_boot <= boot_ns && boot_ns <= last_boot, "{first_boot} {found:?} {last_boot}");
        }
        if let Some((earliest, latest)) = found.bounds.filter(|_| bounded.state.is_bounded()) {
            bounds += 1;
            assert!(earliest <= latest && bounded.earliest.as_unix_ns() <= latest, "{bounded:?} {found:?}");
        }
    }
    println!("{times} readings, {walls} of the wall clock, {boots} of the boot clock, {bounds} of bounded time");
    // Where the counter serves at all; a machine may take the CPU away for long.
    assert!(times > 0 && walls > 0 && boots > 0 || clockscope::source() != Source::Counter);
}

/// An offset that names no word is refused, also within the page.
#[test]
fn offsets_outside_of_the_page_are_refused() {
    for offset in [layout::FLOOR + 4, layout::SIZE, usize::MAX - 7] {
        let loaded = std::panic::catch_unwind(|| load(clockscope::page(), offset));
        assert!(loaded.is_err(), "{offset} was loaded");
    }
}
