//! Meanings of a name that no clock of this machine bears: a clock of other systems, one that this
//! machine lacks, or a clocksource.

use clockscope_system::clocks::catalog::{self, System};
use clockscope_system::clocksource::{self, KnownClocksource};

use crate::instrument::catalog::spellings;

/// Meaning of a name that no clock of this machine bears.
#[derive(Clone, Debug, PartialEq)]
pub enum MissingClock {
    /// A clock of other systems.
    OtherSystems {
        /// Its name there.
        name: String,
        /// The systems' names.
        systems: Vec<&'static str>,
    },
    /// A clock that other machines with this system have.
    OtherMachines {
        /// Its name.
        name: String,
        /// Its description, in one line.
        description: String,
    },
    /// A clocksource of Linux.
    Clocksource {
        /// Facts that are known of it.
        known: &'static KnownClocksource,
        /// True if the kernel offers it; `None` where that is hidden.
        is_offered: Option<bool>,
    },
}

/// Returns what a name means that no clock of this machine bears; `None` if it means nothing. Like
/// names of clocks, it may be in capitals, with C's prefix, or with a path.
#[must_use]
pub fn missing_clock(name: &str) -> Option<MissingClock> {
    meaning(name, System::HERE, |known| match System::HERE {
        Some(System::Linux | System::Android) => {
            clocksource::available().known().map(|names| names.iter().any(|name| name == known.name))
        }
        _ => Some(false),
    })
}

/// The meaning on a system, whose kernel offers some clocksources.
fn meaning(
    name: &str,
    here: Option<System>,
    is_offered: impl Fn(&KnownClocksource) -> Option<bool>,
) -> Option<MissingClock> {
    let (bare, path) = name.split_once(':').map_or((name, None), |(name, path)| (name, Some(path)));
    let named = spellings(bare).map(|name| (catalog::systems_with(&name), name));
    let mut cataloged = named.chain([(catalog::systems_with_interface(name), name.to_owned())]);
    match cataloged.find(|(systems, _)| !systems.is_empty()) {
        Some((systems, name)) if here.is_none_or(|here| !systems.contains(&here)) => {
            let systems = systems.into_iter().map(System::name).collect();
            return Some(MissingClock::OtherSystems { name, systems });
        }
        // With a path, it may be the path that there is not.
        Some((_, name)) if path.is_none() => {
            let here = here?;
            let mut clocks = catalog::CLOCKS.iter();
            let clock = clocks.find(|clock| clock.bears(&name) && clock.systems.contains(&here))?;
            return Some(MissingClock::OtherMachines { name, description: clock.description() });
        }
        _ => {}
    }
    let known = known_clocksource(name)?;
    Some(MissingClock::Clocksource { known, is_offered: is_offered(known) })
}

/// Returns what is known of a clocksource, whose name may be in capitals or with C's prefix; `None`
/// for one that this program has never heard of.
#[must_use]
pub fn known_clocksource(name: &str) -> Option<&'static KnownClocksource> {
    spellings(name).find_map(|name| clocksource::named(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_linux(name: &str, is_offered: Option<bool>) -> Option<MissingClock> {
        meaning(name, Some(System::Linux), |_| is_offered)
    }

    #[test]
    fn clocks_of_other_systems_are_named_with_their_systems() {
        let on_macos = |name: &str| {
            let systems = vec!["macOS"];
            Some(MissingClock::OtherSystems { name: name.to_owned(), systems })
        };
        assert_eq!(on_linux("mach_time", None), on_macos("mach_time"));
        for spelled in ["uptime_raw", "UPTIME_RAW", "CLOCK_UPTIME_RAW", "uptime_raw:libc"] {
            assert_eq!(on_linux(spelled, None), on_macos("uptime_raw"), "{spelled}");
        }
        let systems = vec!["Windows"];
        let name = "QueryPerformanceCounter".to_owned();
        assert_eq!(on_linux(&name, None), Some(MissingClock::OtherSystems { name: name.clone(), systems }));
        // A device of Linux that is a clocksource of it as well.
        let found = meaning("hpet", Some(System::Windows), |_| None);
        assert_eq!(
            found,
            Some(MissingClock::OtherSystems { name: "hpet".to_owned(), systems: vec!["Linux", "Android"] })
        );
        assert_eq!(on_linux("sundial", Some(true)), None);
    }

    #[test]
    fn clocks_of_other_machines_are_said_to_be_so() {
        for (name, expected) in [("stckf", "STCKF (z/Architecture)"), ("TOD", "STCKF (z/Architecture)")] {
            let Some(MissingClock::OtherMachines { description, .. }) = on_linux(name, None) else { panic!("{name}") };
            assert_eq!(description, expected);
        }
        // It is the path that there is not.
        assert_eq!(on_linux("monotonic:sundial", None), None);
    }

    #[test]
    fn clocksources_are_found_in_any_spelling_and_offered_or_not() {
        for spelled in ["acpi_pm", "ACPI_PM", "CLOCK_ACPI_PM"] {
            for offered in [Some(true), Some(false), None] {
                let Some(MissingClock::Clocksource { known, is_offered }) = on_linux(spelled, offered) else {
                    panic!("{spelled}")
                };
                assert_eq!((known.name, is_offered), ("acpi_pm", offered), "{spelled}");
            }
        }
        assert_eq!(known_clocksource("constant").map(|known| known.name), Some("Constant"));
        assert_eq!(known_clocksource("clock_"), None);
    }
}
