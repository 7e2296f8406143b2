//! Readings as differences, which are short to write.

/// Returns each reading's difference from the one before it, and the first's from 0, modulo 2^64.
pub(super) fn differences(readings: Vec<u64>) -> Vec<i64> {
    let mut last = 0;
    let difference = |reading: u64| reading.wrapping_sub(std::mem::replace(&mut last, reading)) as i64;
    readings.into_iter().map(difference).collect()
}

/// Returns the readings of these differences.
pub(super) fn readings(differences: Vec<i64>) -> Vec<u64> {
    let mut last = 0u64;
    let reading = |difference: i64| {
        last = last.wrapping_add_signed(difference);
        last
    };
    differences.into_iter().map(reading).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn small_steps_are_small_numbers() {
        assert_eq!(differences(vec![5000, 5010, 5010, 4990]), [5000, 10, 0, -20]);
        assert_eq!(differences(vec![u64::MAX, 0, 1 << 63]), [-1, 1, i64::MIN]);
        assert!(differences(Vec::new()).is_empty());
    }

    proptest! {
        #[test]
        fn readings_come_back(values: Vec<u64>) {
            prop_assert_eq!(readings(differences(values.clone())), values);
        }

        #[test]
        fn differences_come_back(values: Vec<i64>) {
            prop_assert_eq!(differences(readings(values.clone())), values);
        }
    }
}
