//! Readings as differences, which are short to write.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes each reading's difference from the one before it, and the first's from 0, modulo 2^64.
pub(super) fn serialize<S: Serializer>(readings: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    let mut last = 0;
    serializer
        .collect_seq(readings.iter().map(|reading| reading.wrapping_sub(std::mem::replace(&mut last, *reading)) as i64))
}

/// Reads them back.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u64>, D::Error> {
    let mut last = 0u64;
    let reading = |difference: i64| {
        last = last.wrapping_add_signed(difference);
        last
    };
    Ok(Vec::deserialize(deserializer)?.into_iter().map(reading).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn written(readings: &[u64]) -> Value {
        serialize(readings, serde_json::value::Serializer).unwrap()
    }

    #[test]
    fn small_steps_are_small_numbers() {
        assert_eq!(written(&[5000, 5010, 5010, 4990]), json!([5000, 10, 0, -20]));
        assert_eq!(written(&[u64::MAX, 0, 1 << 63]), json!([-1, 1, i64::MIN]));
        assert_eq!(written(&[]), json!([]));
    }

    proptest! {
        #[test]
        fn readings_come_back(readings: Vec<u64>) {
            prop_assert_eq!(deserialize(written(&readings)).unwrap(), readings);
        }

        #[test]
        fn differences_come_back(differences: Vec<i64>) {
            let readings = deserialize(json!(differences)).unwrap();
            prop_assert_eq!(written(&readings), json!(differences));
        }
    }
}
