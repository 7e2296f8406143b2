//! Leap seconds, as the kernel knows them.
//!
//! Unix time cannot name an inserted second: kernels show the second before it twice, and what
//! POSIX computes of it is the second after. So within a second of such a midnight an interval
//! holds one more second on either side, whichever of the two is meant.

use clockscope_core::kernel_clock::Leap;

const SECOND_NS: i128 = 1_000_000_000;
const DAY_NS: i128 = 86_400 * SECOND_NS;

/// Returns the interval of Unix time in ns, widened where a leap second is near.
pub(crate) fn widen(leap: Leap, (earliest, latest): (i128, i128)) -> (i128, i128) {
    // The last midnight that the interval and a second more may reach.
    let midnight = (latest + SECOND_NS).div_euclid(DAY_NS) * DAY_NS;
    if leap == Leap::None || midnight < earliest - SECOND_NS {
        (earliest, latest)
    } else {
        (earliest - SECOND_NS, latest + SECOND_NS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIDNIGHT: i128 = 20_000 * DAY_NS;

    /// Time that a kernel that inserts a second shows, that much true time after the inserted
    /// second began, and which state it says.
    fn inserting(since_ns: i128) -> (i128, Leap) {
        match since_ns {
            ..0 => (MIDNIGHT + since_ns, Leap::Insert),
            0..SECOND_NS => (MIDNIGHT + since_ns - SECOND_NS, Leap::InProgress),
            _ => (MIDNIGHT + since_ns - SECOND_NS, Leap::Done),
        }
    }

    /// Time that a kernel that leaves the last second out shows, and its state, since the moment at
    /// which that second would have begun.
    fn deleting(since_ns: i128) -> (i128, Leap) {
        if since_ns < 0 { (MIDNIGHT - SECOND_NS + since_ns, Leap::Delete) } else { (MIDNIGHT + since_ns, Leap::Done) }
    }

    proptest! {
        /// A clock that is off by no more than its error holds the true time, by either way of
        /// counting it.
        #[test]
        fn the_true_time_is_inside(
            since_ns in -3 * SECOND_NS..3 * SECOND_NS,
            error in 0i128..2 * SECOND_NS,
            off in -1.0f64..1.0,
            is_hidden in any::<bool>(),
        ) {
            for clock in [inserting, deleting] {
                let (reading, leap) = clock(since_ns + (error as f64 * off) as i128);
                let leap = if is_hidden { Leap::Announced } else { leap };
                let (earliest, latest) = widen(leap, (reading - error, reading + error));
                let truth = clock(since_ns).0;
                prop_assert!(earliest <= truth && truth <= latest);
                // POSIX counts the inserted second as the one after.
                if clock(since_ns).1 == Leap::InProgress {
                    prop_assert!(truth + SECOND_NS <= latest);
                }
            }
        }

        #[test]
        fn far_from_midnight_nothing_is_widened(hour in 1i128..23, error in 0i128..SECOND_NS) {
            let noon = MIDNIGHT + hour * 3600 * SECOND_NS;
            let interval = (noon - error, noon + error);
            for leap in [Leap::Insert, Leap::Delete, Leap::InProgress, Leap::Done, Leap::Announced] {
                prop_assert_eq!(widen(leap, interval), interval);
            }
        }
    }
}
