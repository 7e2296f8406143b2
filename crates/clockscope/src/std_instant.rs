//! Conversions to and from `std::time::Instant`, which shows no number of its own.
//!
//! Reads std's clock between two readings of CLOCK_MONOTONIC, on which it is based. `TryFrom`
//! checks that it is: both clocks must have advanced alike since the first conversion of the
//! process.

use core::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant as StdInstant};

use clockscope_core::brackets::{Bracket, narrowest};
use clockscope_core::os::keep_errno;

use crate::native::CLOCK;
use crate::{Errno, Instant};

/// Comparisons, of which the narrowest is used.
const TRIES: u32 = 8;

impl Instant {
    /// Converts a moment of std's. `None` if it is outside of the timeline, or no clock answers.
    ///
    /// - Error: half of the narrowest comparison, some 20 ns: [`Instant::from_std_within`].
    /// - Applies [`crate::timeline_offset`].
    /// - Cost: 16 reads of CLOCK_MONOTONIC and 8 of std's clock; before the second reading of the
    ///   process, also that of [`crate::prepare`].
    ///
    /// ```
    /// use clockscope::Instant;
    ///
    /// let std = std::time::Instant::now();
    /// let ours = Instant::now();
    /// assert!(Instant::from_std(std).unwrap() <= ours + std::time::Duration::from_millis(1));
    /// ```
    #[must_use]
    pub fn from_std(moment: StdInstant) -> Option<Self> {
        Self::from_std_within(moment).map(|(moment, _)| moment)
    }

    /// Converts a moment of std's, and returns its largest error as well, if std's clock is
    /// CLOCK_MONOTONIC. `None` and cost: as for [`Instant::from_std`].
    ///
    /// ```
    /// use clockscope::Instant;
    ///
    /// let (before, std, after) = (Instant::now(), std::time::Instant::now(), Instant::now());
    /// let (moment, bound) = Instant::from_std_within(std).unwrap();
    /// assert!(moment + bound + clockscope::error_bound().unwrap().largest >= before);
    /// # let _ = after;
    /// ```
    #[must_use]
    pub fn from_std_within(moment: StdInstant) -> Option<(Self, Duration)> {
        let pair = both()?;
        Some((pair.ours_at(moment)?, pair.bound()))
    }

    /// Converts the moment to one of std's. Error, cost and `None`: as for [`Instant::from_std`].
    ///
    /// ```
    /// use clockscope::Instant;
    ///
    /// let start = Instant::now();
    /// assert!(start.to_std().unwrap() <= std::time::Instant::now() + std::time::Duration::from_millis(1));
    /// ```
    #[must_use]
    pub fn to_std(self) -> Option<StdInstant> {
        self.to_std_within().map(|(moment, _)| moment)
    }

    /// Converts the moment to one of std's, and returns its largest error as well, as
    /// [`Instant::from_std_within`] does.
    #[must_use]
    pub fn to_std_within(self) -> Option<(StdInstant, Duration)> {
        let pair = both()?;
        Some((pair.std_at(self)?, pair.bound()))
    }
}

/// Std's `Instant` and ours cannot be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotOneTimeline {
    /// Both clocks have not advanced alike since the first conversion, or no clock answers: std's
    /// is another one than CLOCK_MONOTONIC, or CLOCK_MONOTONIC has stepped.
    Apart,
    /// The moment is before the beginning of the other timeline, or after its end.
    OutOfRange,
}

impl fmt::Display for NotOneTimeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Apart => "std's Instant and CLOCK_MONOTONIC did not advance by the same time: expected one timeline",
            Self::OutOfRange => "the moment is out of the other timeline's range",
        })
    }
}

impl core::error::Error for NotOneTimeline {}

/// Std's clock between two readings of CLOCK_MONOTONIC. It shows no number of its own.
#[derive(Clone, Copy, Debug)]
struct Pair(Bracket<StdInstant>);

impl Pair {
    fn std(&self) -> StdInstant {
        self.0.inner
    }

    /// Ours is taken for the middle.
    fn ours(&self) -> Instant {
        Instant::from_ns(self.0.middle())
    }

    fn ours_at(&self, moment: StdInstant) -> Option<Instant> {
        // Compared first: on Windows, `checked_duration_since` returns zero for a moment that is
        // less than a tick of 100 ns earlier, or just that.
        if moment >= self.std() {
            self.ours().checked_add(moment.duration_since(self.std()))
        } else {
            self.ours().checked_sub(self.std().duration_since(moment))
        }
    }

    fn std_at(&self, moment: Instant) -> Option<StdInstant> {
        match moment.checked_duration_since(self.ours()) {
            Some(later) => self.std().checked_add(later),
            None => self.std().checked_sub(self.ours().duration_since(moment)),
        }
    }

    /// Largest error of a converted moment: half of the bracket. Rounded up.
    fn bound(&self) -> Duration {
        Duration::from_nanos(self.0.span() / 2 + 1)
    }
}

/// The first pair of the process, by which later ones are checked.
static FIRST_PAIR: OnceLock<Pair> = OnceLock::new();

/// Both clocks now, if they have advanced alike since the first pair.
fn checked() -> Result<Pair, NotOneTimeline> {
    let now = both().ok_or(NotOneTimeline::Apart)?;
    // The narrowest of several: all later ones are compared with it.
    let first =
        FIRST_PAIR.get_or_init(|| narrowest(|| both().ok_or(()), |pair| pair.0.width(), TRIES, 0).unwrap_or(now));
    if is_alike(first, &now) { Ok(now) } else { Err(NotOneTimeline::Apart) }
}

/// Returns true if both clocks have advanced alike from one pair to the other, within the bounds of
/// both.
fn is_alike(first: &Pair, now: &Pair) -> bool {
    // Threads may come in any order.
    let [std, ours] = [
        now.std().saturating_duration_since(first.std()) + first.std().saturating_duration_since(now.std()),
        now.ours().duration_since(first.ours()) + first.ours().duration_since(now.ours()),
    ];
    let is_same_way = (now.std() >= first.std()) == (now.ours() >= first.ours());
    let slack = Duration::from_nanos(first.0.width().saturating_add(now.0.span()));
    if is_same_way { std.abs_diff(ours) <= slack } else { std + ours <= slack }
}

/// Checked at run time: [`NotOneTimeline`]. Error and cost as for [`Instant::from_std`]. Once
/// CLOCK_MONOTONIC itself has stepped (setns(2) of a time namespace, a restored process), the check
/// fails for good; [`Instant::from_std`] goes on.
///
/// ```
/// use clockscope::Instant;
///
/// let ours = Instant::try_from(std::time::Instant::now())?;
/// let std = std::time::Instant::try_from(ours)?;
/// # let _ = std;
/// # Ok::<(), clockscope::NotOneTimeline>(())
/// ```
impl TryFrom<StdInstant> for Instant {
    type Error = NotOneTimeline;

    fn try_from(moment: StdInstant) -> Result<Self, NotOneTimeline> {
        checked()?.ours_at(moment).ok_or(NotOneTimeline::OutOfRange)
    }
}

/// As in the other direction.
impl TryFrom<Instant> for StdInstant {
    type Error = NotOneTimeline;

    fn try_from(moment: Instant) -> Result<Self, NotOneTimeline> {
        checked()?.std_at(moment).ok_or(NotOneTimeline::OutOfRange)
    }
}

/// Both clocks at one moment.
fn both() -> Option<Pair> {
    if cfg!(all(target_family = "wasm", target_os = "unknown")) {
        // std's clock panics there.
        return None;
    }
    // Nothing but a load after the first time.
    CLOCK.prepare();
    // Where the counter is disabled, std's clock may be fatal where ours is not; it is the caller
    // who has just read it.
    keep_errno(|| narrowest(bracket, Bracket::width, TRIES, 0)).ok().map(Pair)
}

/// Std's clock between two readings of ours.
fn bracket() -> Result<Bracket<StdInstant>, Errno> {
    let before = CLOCK.layers.os_ns_at_once()?;
    let inner = StdInstant::now();
    Ok(Bracket { before, inner, after: CLOCK.layers.os_ns_at_once()? })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use std::time::Duration;

    /// There and back, for moments before and after now, also before zero: both comparisons err
    /// by half of their widths.
    #[test]
    fn there_and_back() {
        let now = Instant::now();
        let long = Duration::from_secs(864_000_000);
        for moment in [now, now + Duration::from_secs(1000), now - Duration::from_millis(5), now - long, now + long] {
            let Some((std, there)) = moment.to_std_within() else {
                // Std's timeline begins with the machine's start.
                assert!(cfg!(windows) && moment.as_signed_ns() < 0, "{moment}");
                continue;
            };
            let (again, back) = Instant::from_std_within(std).unwrap();
            let error = Duration::from_nanos(again.ns_since(moment) + moment.ns_since(again));
            assert!(error <= there + back, "{error:?}, {there:?} {back:?}");
        }
    }

    /// However near the moment is: std's clock of Windows takes those within 100 ns for the same.
    #[test]
    fn a_moment_beside_a_pair_is_converted_exactly() {
        let pair = both().unwrap();
        for distance in [0, 1, 50, 99, 100, 101].map(Duration::from_nanos) {
            assert_eq!(pair.ours_at(pair.std() - distance), Some(pair.ours() - distance));
            assert_eq!(pair.ours_at(pair.std() + distance), Some(pair.ours() + distance));
        }
    }

    #[test]
    fn both_ways_by_traits_and_a_clock_that_is_another_one_is_refused() {
        let now = Instant::now();
        let again = Instant::try_from(StdInstant::try_from(now).unwrap()).unwrap();
        assert!(again.ns_since(now) + now.ns_since(again) < 10_000_000);
        let far = StdInstant::now() + Duration::from_secs(600 * 31_557_600);
        assert_eq!(Instant::try_from(far), Err(NotOneTimeline::OutOfRange));
        let first = both().unwrap();
        let at = |std_ns: u64, ours_ns: u64| {
            let before = first.0.before + ours_ns;
            Pair(Bracket { before, inner: first.std() + Duration::from_nanos(std_ns), after: before + 40 })
        };
        let first = at(0, 0);
        for (std_ns, ours_ns, is_one) in
            [(0, 0, true), (1_000_000, 1_000_080, true), (1_000_000, 1_000_090, false), (5_000, 1_000_000, false)]
        {
            let later = at(std_ns, ours_ns);
            assert_eq!((is_alike(&first, &later), is_alike(&later, &first)), (is_one, is_one), "{std_ns} {ours_ns}");
        }
    }

    /// A reading of std's between two of ours is between them, within both errors.
    #[test]
    fn a_reading_of_stds_is_between_ours() {
        for _ in 0..100 {
            let (before, std, after) = (Instant::now(), StdInstant::now(), Instant::now());
            let (moment, bound) = Instant::from_std_within(std).unwrap();
            let slack = bound + crate::error_bound().unwrap().largest;
            assert!(before - slack <= moment && moment <= after + slack, "{before} {moment} {after}");
        }
    }
}
