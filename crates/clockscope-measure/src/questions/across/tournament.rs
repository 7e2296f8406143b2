//! Pairing of CPUs: a round-robin tournament by the circle method. In every round each CPU meets at
//! most one other; after n - 1 rounds (n for an odd number) each has met each once. Nothing is
//! stored: a round follows from its number.

/// Rounds that a number of players needs: the fewest that there can be.
pub(crate) fn rounds(players: usize) -> usize {
    match players {
        0 | 1 => 0,
        even if even.is_multiple_of(2) => even - 1,
        odd => odd,
    }
}

/// The pairs of a round, as places of players, the lower one first. One of an odd number of players
/// rests.
pub(crate) fn pairs(players: usize, round: usize) -> impl Iterator<Item = (usize, usize)> {
    // All but one sit in a circle, which turns; the last meets who is on top, the others who is
    // opposite. Of an odd number, the last is nobody.
    let circle = rounds(players);
    let of_last = (players.is_multiple_of(2) && circle > 0).then(|| (round % circle, circle));
    let opposite = (1..circle.div_ceil(2))
        .map(move |distance| ((round + distance) % circle, (round + circle - distance) % circle));
    let others = opposite.filter(move |(a, b)| a.max(b) < &players);
    of_last.into_iter().chain(others).map(|(a, b)| (a.min(b), a.max(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn everybody_meets_everybody_once() {
        for players in (0..40).chain([64, 255, 256]) {
            let mut met = HashSet::new();
            for round in 0..rounds(players) {
                let mut busy = HashSet::new();
                for (a, b) in pairs(players, round) {
                    assert!(a < b && b < players, "{players}: {a} {b}");
                    assert!(met.insert((a, b)), "{players}: {a} and {b} met twice");
                    assert!(busy.insert(a) && busy.insert(b), "{players}: {a} or {b} has two games in round {round}");
                }
            }
            assert_eq!(met.len(), players * players.saturating_sub(1) / 2, "{players}");
        }
    }

    /// 64 CPUs: 63 rounds, in each of which all are busy; a round is 32 pairs and no more is ever
    /// held.
    #[test]
    fn of_64_cpus() {
        assert_eq!((rounds(64), rounds(63), rounds(2), rounds(1)), (63, 63, 1, 0));
        for round in 0..63 {
            assert_eq!(pairs(64, round).count(), 32);
            // The iterator itself holds numbers alone, however many players there are.
            assert!(size_of_val(&pairs(64, round)) <= 128);
        }
    }
}
