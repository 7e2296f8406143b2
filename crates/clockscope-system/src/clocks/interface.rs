//! Names by which programs read a clock: constants and functions of the system, and calls of
//! languages.

/// A name by which programs read a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The name, as programs write it; of a call of a module the part that its users say.
    pub name: &'static str,
    /// The language whose call it is, as `clockscope runtimes` names it; `None` for the system's
    /// own interface.
    pub language: Option<&'static str>,
}

impl Interface {
    /// An interface of the system.
    pub(crate) const fn native(name: &'static str) -> Self {
        Self { name, language: None }
    }

    /// A call of a language.
    pub(crate) const fn call(language: &'static str, name: &'static str) -> Self {
        Self { name, language: Some(language) }
    }

    /// Returns whether this is what was written, in whatever letters: `std::chrono::steady_clock`,
    /// `System.nanoTime()` and `time.perf_counter_ns` have the parts that the name lacks.
    #[must_use]
    pub fn is_written(&self, text: &str) -> bool {
        let text = text.strip_suffix("()").unwrap_or(text);
        let text = text.strip_suffix("::now").unwrap_or(text);
        let last = text.rsplit(['.', ':']).next().unwrap_or(text);
        // Python's calls come in two units.
        let names = [text, last].map(|text| text.strip_suffix("_ns").unwrap_or(text));
        names.into_iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_as_programs_write_them() {
        for (name, written) in [
            ("steady_clock", "steady_clock"),
            ("steady_clock", "std::chrono::steady_clock::now()"),
            ("nanoTime", "System.nanoTime()"),
            ("nanoTime", "nanotime"),
            ("perf_counter", "time.perf_counter_ns"),
            ("time.time", "time.time_ns()"),
            ("Instant", "std::time::Instant::now"),
            ("QueryPerformanceCounter", "QueryPerformanceCounter"),
        ] {
            assert!(Interface::native(name).is_written(written), "{name} {written}");
        }
        for (name, written) in [("Instant", "Instant.now"), ("time.time", "time")] {
            assert!(!Interface::native(name).is_written(written), "{name} {written}");
        }
    }
}
