//! Conversion of errors of scales to errors of rates.

/// Returns the middle and half of the width in ppm, where the lengths of the clock's and of the
/// reference's units may be off by these shares.
pub(super) fn middle([least, most]: [f64; 2], [clock, reference]: [f64; 2]) -> (f64, f64) {
    let (longer, shorter) = ((1.0 + clock) / (1.0 - reference), (1.0 - clock) / (1.0 + reference));
    // A clock that runs backward by a longer unit runs further backward.
    let least = (1.0 + least) * if least < -1.0 { longer } else { shorter } - 1.0;
    let most = (1.0 + most) * if most < -1.0 { shorter } else { longer } - 1.0;
    (f64::midpoint(least, most) * 1e6, (most - least) / 2.0 * 1e6)
}

/// Returns by what share the inverse may be off of a quantity that may be off by this share.
pub(super) fn of_inverse(error: f64) -> f64 {
    if error < 1.0 { error / (1.0 - error) } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The errors of scales were added to the bound as they were, also where the rate made them
    /// larger.
    #[test]
    fn a_scales_error_is_as_much_larger_as_the_rate() {
        for [least, most] in [[0.1, 0.1], [-0.3, 0.2], [-1.7, -1.6]] {
            for errors in [[1e-4, 0.0], [0.0, 1e-4], [0.02, 0.1]] {
                let (ppm, bound) = middle([least, most], errors);
                for rate in [least, most] {
                    for (clock, reference) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                        let scaled = (1.0 + rate) * (1.0 + clock * errors[0]) / (1.0 + reference * errors[1]) - 1.0;
                        assert!((scaled * 1e6 - ppm).abs() <= bound * (1.0 + 1e-12), "{scaled} {ppm} {bound}");
                    }
                }
            }
        }
        assert_eq!((of_inverse(0.2), of_inverse(1.0)), (0.25, f64::INFINITY));
    }
}
