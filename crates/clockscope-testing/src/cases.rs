//! Cases of property tests.

/// proptest's variable for the cases of a test, and its default. `cargo test` draws a quarter
/// (`.cargo/config.toml`), `cargo xtask test` all.
const CASES_VARIABLE: &str = "PROPTEST_CASES";
const DEFAULT_CASES: u32 = 256;

/// Returns the number of cases that a property test draws, for tests with another number than
/// proptest's default: `all` of them where `PROPTEST_CASES` is 256 or unset, and in proportion to
/// that otherwise.
///
/// # Panics
/// The variable is not a number.
#[must_use]
pub fn cases(all: u32) -> u32 {
    let asked = std::env::var(CASES_VARIABLE).map_or(DEFAULT_CASES, |asked| {
        asked.parse().unwrap_or_else(|_| panic!("{CASES_VARIABLE}={asked}: expected a number of cases"))
    });
    scaled(all, asked)
}

fn scaled(all: u32, asked: u32) -> u32 {
    let cases = u64::from(all) * u64::from(asked) / u64::from(DEFAULT_CASES);
    u32::try_from(cases).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_in_proportion_to_the_variable() {
        let pairs = [(256, 2000), (64, 500), (5000, 39_062), (1, 7), (0, 1), (u32::MAX, u32::MAX)];
        for (asked, expected) in pairs {
            assert_eq!(scaled(2000, asked), expected);
        }
    }
}
