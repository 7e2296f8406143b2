//! The small texts of Linux's /proc and /sys, as pure functions.

/// The first value of `key : value` in the style of /proc/cpuinfo.
pub(crate) fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// Returns true if the words of `line` hold `word`.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "x86")),
    allow(dead_code, reason = "only x86 has flags of its counter")
)]
pub(crate) fn has_word(line: &str, word: &str) -> bool {
    line.split_ascii_whitespace().any(|found| found == word)
}

/// A list of CPUs such as `0-3,8`, as /sys/devices/system/cpu writes it. `None` if it is no such
/// list.
#[must_use]
pub fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        // No machine has more; a longer range is not a list of CPUs but a broken file.
        if first > last || last > 1 << 20 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// True on Linux, whose files these are.
pub(crate) const ARE_READ: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// A small file of Linux's /proc or /sys. `None` on other systems, where such a path may show
/// another system's: Wine shows its host's.
pub(crate) fn file(path: &str) -> Option<String> {
    if !ARE_READ {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

/// A small file of one line, without its end. `None` if it is empty, and on systems other than
/// Linux.
pub(crate) fn line_of(path: &str) -> Option<String> {
    let text = file(path)?;
    Some(text.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Returns true if the kernel may call a clocksource so: all that it has are words of these
/// letters.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Returns true if FreeBSD's kernel may call a timecounter so, as in `ARM MPCore Timecounter`.
pub(crate) fn is_name_of_words(name: &str) -> bool {
    name.split(' ').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-3,8\n"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpu_list("0"), Some(vec![0]));
        for text in ["", "a", "3-1", "0-", "-1", "0-99999999999", "0-4294967295"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
    }

    #[test]
    fn fields_and_words() {
        let text = "model name\t: Some CPU\nflags\t\t: tsc constant_tsc\n\nmodel name : other\n";
        assert_eq!(field(text, "model name"), Some("Some CPU"));
        assert_eq!(field(text, "absent"), None);
        assert!(has_word("tsc constant_tsc", "tsc") && !has_word("constant_tsc", "tsc"));
    }
}
