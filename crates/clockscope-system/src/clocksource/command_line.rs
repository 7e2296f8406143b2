//! The kernel's command line, as the kernel reads it.

use clockscope_core::clocksource;
use clockscope_records::KernelCause;

/// Options on clocksources: the last `clocksource=` counts, each `tsc=` adds to those before it
/// (Linux, `kernel/time/clocksource.c`, `arch/x86/kernel/tsc.c`).
#[derive(Debug, Default, PartialEq)]
pub(super) struct CommandLine {
    /// The clocksource that is asked for.
    clocksource: Option<String>,
    is_notsc: bool,
    is_unstable: bool,
    /// The option by which the kernel does not watch the counter.
    pub(super) unwatched: Option<String>,
}

impl CommandLine {
    /// Reads it: spaces within double quotes part nothing, and what follows `--` is for the first
    /// process (Linux, `lib/cmdline.c`, `kernel/params.c`).
    pub(super) fn read(line: &str) -> Self {
        let mut read = Self::default();
        let mut is_quoted = false;
        let words = line.split(|c: char| {
            is_quoted ^= c == '"';
            c.is_ascii_whitespace() && !is_quoted
        });
        let words: Vec<String> = words.map(|word| word.replace('"', "")).collect();
        for word in words.iter().take_while(|word| *word != "--") {
            match word.split_once('=') {
                Some(("clocksource", name)) => read.clocksource = Some(name.to_owned()),
                Some(("tsc", "unstable")) => read.is_unstable = true,
                Some(("tsc", "reliable" | "nowatchdog")) => read.unwatched = Some(word.clone()),
                None if word == "notsc" => read.is_notsc = true,
                _ => {}
            }
        }
        read
    }

    /// Reasons why the counter is not used, but this clocksource.
    pub(super) fn causes(self, current: Option<&str>) -> Vec<KernelCause> {
        // Another one than the one in use was not obeyed, or has been switched since.
        let asked_for = self.clocksource.filter(|name| current.is_none_or(|current| current == name));
        let option = asked_for.filter(|name| !clocksource::is_counter(name.as_bytes()));
        let causes = [
            option.map(|clocksource| KernelCause::ClocksourceOption { clocksource }),
            self.is_unstable.then_some(KernelCause::UnstableOption),
            self.is_notsc.then_some(KernelCause::NotscOption),
        ];
        causes.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_read_as_the_kernel_reads_it() {
        let clocksource = |line: &str| CommandLine::read(line).clocksource;
        assert_eq!(clocksource("ro clocksource=hpet quiet clocksource=tsc\n").as_deref(), Some("tsc"));
        assert_eq!(clocksource("clocksource=tsc clocksource=hpet -- clocksource=acpi_pm").as_deref(), Some("hpet"));
        assert_eq!(clocksource("x=\"a clocksource=hpet b\" y"), None);
        assert_eq!(clocksource("\"clocksource=hpet\"").as_deref(), Some("hpet"));
        assert_eq!(clocksource("noclocksource=hpet clocksource"), None);
        for (line, unwatched) in [
            ("tsc=reliable", Some("tsc=reliable")),
            ("tsc=reliable tsc=nowatchdog", Some("tsc=nowatchdog")),
            ("nowatchdog tsc=watchdog tsc=reliably -- tsc=reliable", None),
        ] {
            assert_eq!(CommandLine::read(line).unwatched.as_deref(), unwatched, "{line}");
        }
    }
}
