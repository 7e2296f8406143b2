//! Days of the calendar, as records write them.

/// A day: its number from 1970-01-01 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

/// The last day of every census, 2026-10-31: records are history, so it never moves.
pub(super) const LAST: Day = Day(20_757);

impl Day {
    /// Returns its date as YYYY-MM-DD (the algorithm `civil_from_days` by Howard Hinnant, in the
    /// public domain).
    pub(super) fn date(self) -> String {
        let shifted = self.0 + 719_468;
        let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let (month, after) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        format!("{:04}-{month:02}-{day:02}", year + era * 400 + after)
    }

    /// Returns a time of this day, RFC 3339 in UTC.
    pub(super) fn at(self, second: u64) -> String {
        format!("{}T{:02}:{:02}:{:02}Z", self.date(), second / 3600, second / 60 % 60, second % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_the_dates_of_the_calendar() {
        assert_eq!(LAST.date(), "2026-10-31");
        assert_eq!(Day(0).at(3_661), "1970-01-01T01:01:01Z");
        assert_eq!(
            [-1, 11_016, 11_017, 19_782].map(|day| Day(day).date()),
            ["1969-12-31", "2000-02-29", "2000-03-01", "2024-02-29"]
        );
    }
}
