//! Comparisons of a system's table with the catalog that the compiler makes, for systems that
//! nothing here runs.

use super::{CLOCKS, Cataloged, System};
use crate::ClockKind;

/// Returns whether a system has a clock of this name, these other names and this kind.
pub(crate) const fn is_cataloged(system: System, name: &str, aliases: &[&str], kind: ClockKind) -> bool {
    let mut place = 0;
    while place < CLOCKS.len() {
        let clock = &CLOCKS[place];
        if has(clock.systems, system) && is_same(clock.name, name) && clock.kind as u8 == kind as u8 {
            let mut other = 0;
            while other < aliases.len() && other < clock.aliases.len() && is_same(aliases[other], clock.aliases[other])
            {
                other += 1;
            }
            return other == aliases.len() && other == clock.aliases.len();
        }
        place += 1;
    }
    false
}

/// Returns the name of the n-th clock of a system that is read by `clock_gettime`.
pub(crate) const fn posix_clock(system: System, number: usize) -> Option<&'static str> {
    let (mut place, mut seen) = (0, 0);
    while place < CLOCKS.len() {
        let clock = &CLOCKS[place];
        if has(clock.systems, system) && is_posix(clock) {
            if seen == number {
                return Some(clock.name);
            }
            seen += 1;
        }
        place += 1;
    }
    None
}

/// Returns true if it has a number of `clock_gettime`, by which its summary begins.
const fn is_posix(clock: &Cataloged) -> bool {
    matches!(clock.summary.as_bytes(), [b'C', b'L', b'O', b'C', b'K', b'_', ..])
}

const fn has(systems: &[System], system: System) -> bool {
    let mut place = 0;
    while place < systems.len() {
        if systems[place] as u8 == system as u8 {
            return true;
        }
        place += 1;
    }
    false
}

/// Returns whether two names are the same.
pub(crate) const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut place = 0;
    while place < one.len() && place < other.len() && one[place] == other[place] {
        place += 1;
    }
    place == one.len() && place == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use System::{FreeBsd, MacOs, OpenBsd};

    #[test]
    fn a_row_that_differs_is_not_cataloged() {
        assert!(is_cataloged(MacOs, "mach_absolute_time", &["mach_time"], ClockKind::Monotonic));
        assert!(!is_cataloged(FreeBsd, "mach_absolute_time", &["mach_time"], ClockKind::Monotonic));
        assert!(!is_cataloged(MacOs, "mach_absolute_time", &[], ClockKind::Monotonic));
        assert!(!is_cataloged(MacOs, "mach_absolute_time", &["mach_tim"], ClockKind::Monotonic));
        assert!(!is_cataloged(MacOs, "mach_absolute_time", &["mach_time", "x"], ClockKind::Monotonic));
        assert!(!is_cataloged(MacOs, "mach_absolute_time", &["mach_time"], ClockKind::Wall));
        assert!(!is_cataloged(MacOs, "mach_absolute", &["mach_time"], ClockKind::Monotonic));
    }

    #[test]
    fn posix_clocks_of_a_system_are_counted() {
        let names: Vec<&str> = (0..).map_while(|number| posix_clock(OpenBsd, number)).collect();
        assert_eq!(names, ["realtime", "monotonic", "boottime", "uptime", "process", "thread"]);
        assert_eq!((0..).map_while(|number| posix_clock(MacOs, number)).count(), 8);
    }
}
