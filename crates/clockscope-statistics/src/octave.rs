//! Bins of equal ratio.

/// Bins for each doubling.
pub const BINS_PER_OCTAVE: i64 = 8;

/// The bin of a positive number: 0 is the one that begins at 1.
#[must_use]
pub fn octave_bin(value: f64) -> i64 {
    // A number on an edge belongs to the bin above, whichever way the logarithm was rounded.
    (value.log2() * BINS_PER_OCTAVE as f64 + 1e-9).floor() as i64
}

/// The value at which a bin begins.
#[must_use]
pub fn octave_edge(bin: i64) -> f64 {
    (bin as f64 / BINS_PER_OCTAVE as f64).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_belong_to_the_bin_that_they_begin() {
        for bin in -100..300 {
            assert_eq!(octave_bin(octave_edge(bin)), bin);
            assert_eq!(octave_bin(octave_edge(bin) * 1.04), bin);
            assert_eq!(octave_bin(octave_edge(bin) * 0.99), bin - 1);
        }
    }
}
