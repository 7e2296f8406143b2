//! License expressions of SPDX, and the older form with a slash.

/// Returns whether an expression can be met with the allowed licenses alone. An exception after
/// `WITH` is a license of its own. An expression that cannot be read is not met.
pub(super) fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut reader = Reader { words: spaced.split_whitespace().collect(), at: 0, allowed };
    reader.any_of() == Some(true) && reader.at == reader.words.len()
}

/// Reads an expression from left to right. `AND` binds more than `OR`, and `WITH` more than both.
struct Reader<'a> {
    words: Vec<&'a str>,
    at: usize,
    allowed: &'a [String],
}

impl Reader<'_> {
    fn take(&mut self, word: &str) -> bool {
        let is_it = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is_it);
        is_it
    }

    fn any_of(&mut self) -> Option<bool> {
        let mut met = self.all_of()?;
        while self.take("OR") {
            met |= self.all_of()?;
        }
        Some(met)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut met = self.one()?;
        while self.take("AND") {
            met &= self.one()?;
        }
        Some(met)
    }

    /// A license, or an expression in parentheses.
    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let met = self.any_of()?;
            return self.take(")").then_some(met);
        }
        let mut license = self.name()?.to_owned();
        if self.take("WITH") {
            license = format!("{license} WITH {}", self.name()?);
        }
        Some(self.allowed.contains(&license))
    }

    fn name(&mut self) -> Option<&str> {
        let word = *self.words.get(self.at)?;
        self.at += 1;
        (!["(", ")", "AND", "OR", "WITH"].contains(&word)).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_as_spdx_says() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0"].map(str::to_owned);
        for (expression, expected) in [
            ("MIT", true),
            ("GPL-3.0", false),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0/MIT", true),
            ("MIT AND GPL-3.0", false),
            ("GPL-3.0 AND X OR MIT", true),
            ("MIT OR GPL-3.0 AND X", true),
            ("(MIT OR GPL-3.0) AND X", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", false),
            ("Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT", true),
            ("", false),
            ("MIT OR", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("MIT)", false),
            ("MIT WITH", false),
        ] {
            assert_eq!(is_allowed(expression, &allowed), expected, "{expression:?}");
        }
    }
}
