//! The step of a clock, from a few thousand readings: a light form of what the instrument does at
//! length.
//!
//! Readings of a clock lie on a lattice of its tick. Their differences are multiples of it, one
//! more or less: some counters answer a second read within a tick with the former value plus one. A
//! constant cost of the read would look like a lattice, too, so the readings are spaced unevenly.
//! Only steps of integral units are found: one of 125/3 ns is reported as 1.

use core::hint::black_box;

const READINGS: usize = 2048;

/// Share of the differences that a step must explain.
const MIN_EXPLAINED_PERCENT: usize = 97;

/// The step in the clock's units: the largest of which nearly all differences are multiples. 1 if
/// there is none above 4, which could not be distinguished from 1. `None` with fewer than 16
/// differences.
pub(crate) fn step(mut read: impl FnMut() -> u64) -> Option<u64> {
    let mut differences = [0u64; READINGS];
    let mut count = 0;
    let mut last = read();
    for index in 0..READINGS {
        // 0 to 30 dependent multiplications, in an order that repeats only after 31 readings.
        let mut product = index as u64;
        for _ in 0..index * 7 % 31 {
            product = black_box(product.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        black_box(product);
        let now = read();
        // Equal readings show no step, nor do steps back.
        if (now.wrapping_sub(last) as i64) > 0 {
            differences[count] = now.wrapping_sub(last);
            count += 1;
        }
        last = now;
    }
    step_of_differences(&mut differences[..count])
}

fn step_of_differences(differences: &mut [u64]) -> Option<u64> {
    if differences.len() < 16 {
        return None;
    }
    differences.sort_unstable();
    // The long ones are interruptions, in which a wrong step's error adds up to anything.
    let usual = &differences[..differences.len() * 9 / 10];
    // The true step divides the median difference, or nearly so.
    let median = usual[usual.len() / 2];
    (1..=median / 5).map(|parts| (median + parts / 2) / parts).find(|step| explains(usual, *step)).or(Some(1))
}

/// Returns true if nearly all differences are within 1 of a multiple of `step`.
fn explains(differences: &[u64], step: u64) -> bool {
    let near = differences.iter().filter(|difference| {
        let remainder = **difference % step;
        remainder <= 1 || step - remainder <= 1
    });
    step > 4 && near.count() * 100 >= differences.len() * MIN_EXPLAINED_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is read every 20 to 90 units and shows multiples of `tick`.
    fn clock(tick: u64) -> impl FnMut() -> u64 {
        let (mut time, mut turn) = (1u64 << 40, 0u64);
        move || {
            turn += 1;
            time += 20 + turn * turn * 7 % 71;
            time / tick * tick
        }
    }

    #[test]
    fn steps_are_found() {
        for tick in [1, 5, 7, 10, 26, 41, 100, 279] {
            assert_eq!(step(clock(tick)), Some(tick), "{tick}");
        }
    }

    #[test]
    fn a_second_read_within_a_tick_may_be_one_more() {
        let mut inner = clock(26);
        let mut last = 0;
        let read = move || {
            let now = inner().max(last);
            last = if now == last { now + 1 } else { now };
            last
        };
        assert_eq!(step(read), Some(26));
    }

    #[test]
    fn a_frozen_clock_has_none() {
        assert_eq!(step(|| 7), None);
    }
}
