//! Names by which programs read a clock: constants and functions of the system, and calls of
//! languages.

/// A name by which programs read a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The name with its modules: `CLOCK_MONOTONIC`, `std::chrono::steady_clock`.
    pub path: &'static str,
    /// The language whose call it is, as `clockscope runtimes` names it; `None` for an interface of
    /// the system.
    pub language: Option<&'static str>,
    /// Fewest parts of the path that tell it from calls of other modules and languages.
    min_parts: usize,
}

impl Interface {
    /// An interface of the system.
    pub(crate) const fn native(path: &'static str) -> Self {
        Self { path, language: None, min_parts: 1 }
    }

    /// A call of a language whose last part is known without its module.
    pub(crate) const fn call(language: &'static str, path: &'static str) -> Self {
        Self { path, language: Some(language), min_parts: 1 }
    }

    /// A call of a language whose last part alone may be of another module: `time.Now`.
    pub(crate) const fn qualified(language: &'static str, path: &'static str) -> Self {
        Self { path, language: Some(language), min_parts: 2 }
    }

    /// Returns whether a program's text is this name, with as many of its modules as it writes.
    /// Parentheses, `::now` and Python's `_ns` may follow. A name without a module may be in other
    /// letters.
    #[must_use]
    pub fn is_written(&self, text: &str) -> bool {
        let text = text.strip_suffix("()").unwrap_or(text);
        let text = text.strip_suffix("::now").unwrap_or(text);
        let text = if self.language == Some("python") { text.strip_suffix("_ns").unwrap_or(text) } else { text };
        let (parts, written) = (parts(self.path), parts(text));
        match written.as_slice() {
            [word] if self.min_parts == 1 => parts.last().is_some_and(|name| name.eq_ignore_ascii_case(word)),
            written => written.len() >= self.min_parts && parts.ends_with(written),
        }
    }
}

/// The parts of a name between `.` and `::`.
fn parts(name: &str) -> Vec<&str> {
    name.split("::").flat_map(|part| part.split('.')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_as_programs_write_them() {
        let steady = Interface::call("c++", "std::chrono::steady_clock");
        let nano = Interface::call("java", "System.nanoTime");
        let counter = Interface::call("python", "time.perf_counter");
        let instant = Interface::call("rust", "std::time::Instant");
        let go = Interface::qualified("go", "time.Now");
        for (interface, written) in [
            (steady, "steady_clock"),
            (steady, "chrono::steady_clock"),
            (steady, "std::chrono::steady_clock::now()"),
            (nano, "System.nanoTime()"),
            (nano, "nanotime"),
            (counter, "time.perf_counter_ns"),
            (counter, "perf_counter()"),
            (instant, "std::time::Instant::now"),
            (go, "time.Now()"),
        ] {
            assert!(interface.is_written(written), "{interface:?} {written}");
        }
        for (interface, written) in [
            (instant, "java.time.Instant"),
            (instant, "quanta::Instant"),
            (instant, "Instant.now"),
            (nano, "foo.bar::nanoTime"),
            (nano, "nanoTime_ns"),
            (go, "Time.now"),
            (go, "now"),
            (go, ""),
            (steady, ":"),
            (steady, "::"),
            (steady, "()"),
        ] {
            assert!(!interface.is_written(written), "{interface:?} {written}");
        }
    }
}
