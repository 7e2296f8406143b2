//! Moments of the time of day, as the system's wall clock counts them.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

const NS_PER_SECOND: i64 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// A moment of the time of day: nanoseconds since 1970-01-01T00:00:00 UTC, without leap seconds, as
/// CLOCK_REALTIME and `SystemTime` count them.
///
/// Eight bytes, `Copy`, totally ordered, from the year 1677 to 2262. Arithmetic is checked, or
/// saturates where the name says so.
///
/// ```
/// use clockscope::WallTime;
/// use std::time::{Duration, SystemTime};
///
/// let moment = WallTime::from_unix_ns(1_700_000_000_123_456_789);
/// assert_eq!(moment.to_string(), "2023-11-14T22:13:20.123456789Z");
/// assert_eq!("2023-11-15T00:13:20.123456789+02:00".parse(), Ok(moment));
/// assert_eq!(SystemTime::from(moment), SystemTime::UNIX_EPOCH + Duration::from_nanos(1_700_000_000_123_456_789));
/// assert_eq!(moment.as_timespec(), (1_700_000_000, 123_456_789));
/// assert_eq!(WallTime::MAX.checked_add(Duration::from_nanos(1)), None);
/// assert_eq!(size_of::<WallTime>(), 8);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct WallTime(i64);

/// The moment is before the year 1677 or after 2262.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange(());

/// The text is no moment in the format of RFC 3339, or one that a [`WallTime`] cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotRfc3339(());

impl WallTime {
    /// 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self(0);
    /// The earliest moment, in the year 1677.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest moment, in the year 2262.
    pub const MAX: Self = Self(i64::MAX);

    /// Returns the moment `ns` nanoseconds after the Unix epoch.
    #[inline(always)]
    #[must_use]
    pub const fn from_unix_ns(ns: i64) -> Self {
        Self(ns)
    }

    /// Returns the nanoseconds since the Unix epoch.
    #[inline(always)]
    #[must_use]
    pub const fn as_unix_ns(self) -> i64 {
        self.0
    }

    /// Converts a `timespec` of CLOCK_REALTIME. `None` if its nanoseconds are negative or a second
    /// and more, or if the moment is out of range.
    #[must_use]
    pub const fn from_timespec(seconds: i64, nanoseconds: i64) -> Option<Self> {
        if nanoseconds < 0 || nanoseconds >= NS_PER_SECOND {
            return None;
        }
        // Exact for the first second of the range as well, whose seconds alone are below it.
        let ns = seconds as i128 * NS_PER_SECOND as i128 + nanoseconds as i128;
        if ns < i64::MIN as i128 || ns > i64::MAX as i128 { None } else { Some(Self(ns as i64)) }
    }

    /// Converts the moment to seconds and nanoseconds of a `timespec`; the nanoseconds are never
    /// negative.
    #[must_use]
    pub const fn as_timespec(self) -> (i64, i64) {
        (self.0.div_euclid(NS_PER_SECOND), self.0.rem_euclid(NS_PER_SECOND))
    }

    /// Returns the moment `duration` later; `None` if it is out of range.
    #[must_use]
    pub const fn checked_add(self, duration: Duration) -> Option<Self> {
        match whole_ns(duration) {
            Some(ns) => match self.0.checked_add_unsigned(ns) {
                Some(ns) => Some(Self(ns)),
                None => None,
            },
            None => None,
        }
    }

    /// Returns the moment `duration` earlier; `None` if it is out of range.
    #[must_use]
    pub const fn checked_sub(self, duration: Duration) -> Option<Self> {
        match whole_ns(duration) {
            Some(ns) => match self.0.checked_sub_unsigned(ns) {
                Some(ns) => Some(Self(ns)),
                None => None,
            },
            None => None,
        }
    }

    /// Returns the moment `duration` later, or [`WallTime::MAX`].
    #[must_use]
    pub const fn saturating_add(self, duration: Duration) -> Self {
        match self.checked_add(duration) {
            Some(moment) => moment,
            None => Self::MAX,
        }
    }

    /// Returns the moment `duration` earlier, or [`WallTime::MIN`].
    #[must_use]
    pub const fn saturating_sub(self, duration: Duration) -> Self {
        match self.checked_sub(duration) {
            Some(moment) => moment,
            None => Self::MIN,
        }
    }

    /// Returns the time from `earlier` to this moment; `None` if `earlier` is later.
    #[must_use]
    pub const fn checked_duration_since(self, earlier: Self) -> Option<Duration> {
        if self.0 < earlier.0 { None } else { Some(Duration::from_nanos(self.0.wrapping_sub(earlier.0) as u64)) }
    }

    /// Returns the time from `earlier` to this moment; zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_duration_since(self, earlier: Self) -> Duration {
        match self.checked_duration_since(earlier) {
            Some(duration) => duration,
            None => Duration::ZERO,
        }
    }
}

/// A duration in ns, if 64 bits hold it.
const fn whole_ns(duration: Duration) -> Option<u64> {
    match duration.as_secs().checked_mul(NS_PER_SECOND as u64) {
        Some(whole) => whole.checked_add(duration.subsec_nanos() as u64),
        None => None,
    }
}

/// In the unit of std's type: 100 ns on Windows, toward 1970.
#[cfg(feature = "std")]
impl From<WallTime> for std::time::SystemTime {
    fn from(moment: WallTime) -> Self {
        let distance = Duration::from_nanos(moment.0.unsigned_abs());
        // Unix systems count 64 bits of seconds from 1970. Windows counts from 1601.
        let found =
            if moment.0 < 0 { Self::UNIX_EPOCH.checked_sub(distance) } else { Self::UNIX_EPOCH.checked_add(distance) };
        found.unwrap_or(Self::UNIX_EPOCH)
    }
}

#[cfg(feature = "std")]
impl TryFrom<std::time::SystemTime> for WallTime {
    type Error = OutOfRange;

    fn try_from(moment: std::time::SystemTime) -> Result<Self, OutOfRange> {
        let found = match moment.duration_since(std::time::SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::UNIX_EPOCH.checked_add(after),
            Err(before) => Self::UNIX_EPOCH.checked_sub(before.duration()),
        };
        found.ok_or(OutOfRange(()))
    }
}

/// A date of the proleptic Gregorian calendar, by days since 1970-01-01. (Years begin in March
/// here, so that the leap day is the last one.)
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

/// Days since 1970-01-01 of a date, likewise; `None` if there is none.
fn days((year, month, day): (i64, i64, i64)) -> Option<i64> {
    let (from_march, year_of) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
    let (era, in_era) = (year_of.div_euclid(400), year_of.rem_euclid(400));
    let days =
        era * 146_097 + in_era * 365 + in_era / 4 - in_era / 100 + (153 * from_march + 2) / 5 + day - 1 - 719_468;
    if (1..=12).contains(&month) && date(days) == (year, month, day) { Some(days) } else { None }
}

/// RFC 3339 in UTC with nine digits of the second: as many letters for every moment, whose order is
/// that of the moments.
impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, nanoseconds) = self.as_timespec();
        let (year, month, day) = date(seconds.div_euclid(SECONDS_PER_DAY));
        let second = seconds.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{nanoseconds:09}Z")
    }
}

/// RFC 3339, with any offset and any number of digits of the second; those after the ninth are left
/// out. The second 60 of a leap second is the first of the minute after, as POSIX counts it.
impl FromStr for WallTime {
    type Err = NotRfc3339;

    fn from_str(text: &str) -> Result<Self, NotRfc3339> {
        parsed(text.as_bytes()).ok_or(NotRfc3339(()))
    }
}

fn parsed(text: &[u8]) -> Option<WallTime> {
    let (moment, tail) = text.split_at_checked(19)?;
    let [year @ .., b'-', _, _, b'-', _, _, b'T' | b't' | b' ', _, _, b':', _, _, b':', _, _] = moment else {
        return None;
    };
    let date = (digits(year)?, digits(&moment[5..7])?, digits(&moment[8..10])?);
    let (hour, minute, second) = (digits(&moment[11..13])?, digits(&moment[14..16])?, digits(&moment[17..])?);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (nanoseconds, offset) = fraction(tail)?;
    let seconds = days(date)? * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - offset_seconds(offset)?;
    WallTime::from_timespec(seconds, nanoseconds)
}

/// The nanoseconds of a fraction, if there is one, and what follows it.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let [b'.', tail @ ..] = text else { return Some((0, text)) };
    let length = tail.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let (fraction, tail) = tail.split_at(length);
    let significant = &fraction[..length.min(9)];
    let nanoseconds = digits(significant)? * 10i64.pow(9 - significant.len() as u32);
    Some((nanoseconds, tail))
}

fn offset_seconds(text: &[u8]) -> Option<i64> {
    match text {
        [b'Z' | b'z'] => Some(0),
        [sign @ (b'+' | b'-'), tail @ ..] if tail.len() == 5 && tail[2] == b':' => {
            let (hours, minutes) = (digits(&tail[..2])?, digits(&tail[3..])?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            let seconds = hours * 3600 + minutes * 60;
            Some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

/// The number that these digits are; `None` for none, or other letters.
fn digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// RFC 3339 in formats that people read, nanoseconds since the Unix epoch in others.
#[cfg(feature = "serde")]
impl serde::Serialize for WallTime {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_i64(self.0) }
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for WallTime {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl serde::de::Visitor<'_> for TextVisitor {
            type Value = WallTime;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a moment of RFC 3339")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<WallTime, E> {
                text.parse().map_err(E::custom)
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_str(TextVisitor)
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the moment is out of range: expected one between the years 1677 and 2262")
    }
}

impl fmt::Display for NotRfc3339 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "not a moment of RFC 3339: expected one like 2023-11-14T22:13:20.5Z, between the years 1677 and 2262",
        )
    }
}

impl core::error::Error for OutOfRange {}
impl core::error::Error for NotRfc3339 {}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn moments_that_are_known() {
        for (ns, text) in [
            (0, "1970-01-01T00:00:00.000000000Z"),
            (-1, "1969-12-31T23:59:59.999999999Z"),
            (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
            (i64::MAX, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, "1677-09-21T00:12:43.145224192Z"),
        ] {
            assert_eq!(WallTime(ns).to_string(), text);
            assert_eq!(text.parse(), Ok(WallTime(ns)));
        }
        let same = [
            "2016-12-31T23:59:60Z",
            "2017-01-01 00:00:00z",
            "2016-12-31T18:30:00.0-05:30",
            "2017-01-01t00:00:00.0000000009+00:00",
        ];
        assert!(same.iter().all(|text| text.parse() == Ok(WallTime(1_483_228_800_000_000_000))));
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2017-01-01",
            "2017-01-01T00:00:00",
            "2017-02-29T00:00:00Z",
            "2017-13-01T00:00:00Z",
            "2017-00-01T00:00:00Z",
            "2017-01-00T00:00:00Z",
            "2017-01-01T24:00:00Z",
            "2017-01-01T00:60:00Z",
            "2017-01-01T00:00:61Z",
            "2017-01-01T00:00:00.Z",
            "2017-01-01T00:00:00+0000",
            "2017-01-01T00:00:00+24:00",
            "2017-01-01T00:00:00ZZ",
            "+017-01-01T00:00:00Z",
            "2017-01-01T00:00:0\u{e9}Z",
            "9999-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
        ] {
            assert_eq!(text.parse::<WallTime>(), Err(NotRfc3339(())), "{text}");
        }
    }

    proptest! {
        #[test]
        fn there_and_back(ns in any::<i64>()) {
            let moment = WallTime(ns);
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
            let (seconds, nanoseconds) = moment.as_timespec();
            prop_assert_eq!(WallTime::from_timespec(seconds, nanoseconds), Some(moment));
            let std = WallTime::try_from(std::time::SystemTime::from(moment)).unwrap();
            // FILETIME counts 100 ns.
            let unit_ns = if cfg!(windows) { 100 } else { 1 };
            prop_assert!(moment.as_unix_ns().abs_diff(std.as_unix_ns()) < unit_ns);
        }

        #[test]
        fn texts_are_ordered_as_moments_are(a in any::<i64>(), b in any::<i64>()) {
            prop_assert_eq!(WallTime(a).to_string().cmp(&WallTime(b).to_string()), a.cmp(&b));
        }

        #[test]
        fn any_text_and_any_timespec_is_answered(text in ".{0,40}", numbers in (any::<i64>(), any::<i64>())) {
            let _ = text.parse::<WallTime>();
            let almost = "2017-01-01T00:00:00".to_string() + &text;
            let _ = almost.parse::<WallTime>();
            if let Some(moment) = WallTime::from_timespec(numbers.0, numbers.1) {
                prop_assert_eq!(moment.as_timespec(), numbers);
            }
        }

        #[test]
        fn sums_are_exact_or_refused(ns in any::<i64>(), seconds in any::<u64>(), nanos in 0u32..1_000_000_000) {
            let duration = Duration::new(seconds, nanos);
            let length = i128::try_from(duration.as_nanos()).unwrap();
            for (found, exact) in [
                (WallTime(ns).checked_add(duration), i128::from(ns) + length),
                (WallTime(ns).checked_sub(duration), i128::from(ns) - length),
            ] {
                prop_assert_eq!(found.map(|moment| moment.0), i64::try_from(exact).ok());
            }
            if let Some(later) = WallTime(ns).checked_add(duration) {
                prop_assert_eq!(later.checked_duration_since(WallTime(ns)), Some(duration));
                prop_assert_eq!(WallTime(ns).saturating_duration_since(later), Duration::ZERO);
            }
        }
    }
}
