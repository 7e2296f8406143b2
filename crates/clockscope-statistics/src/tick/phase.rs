//! Phases in cycles. A tick is found by millions of them, so that a call of the mathematical
//! library for each takes most of the time.

/// The distance of a phase from the nearest whole number of cycles, from -0.5 to 0.5. Of phases
/// from 2^51 on, which have next to no fraction, it is anything in that range.
#[inline(always)]
pub(super) fn fraction(cycles: f64) -> f64 {
    // A sum of this size has no fraction left: it was rounded away, to the nearest even number.
    const WHOLE: f64 = 1.5 * (1u64 << 52) as f64;
    (cycles - ((cycles + WHOLE) - WHOLE)).clamp(-0.5, 0.5)
}

/// The cosine and the sine of a phase from -0.5 to 0.5 cycles, to 1e-6. Taylor's series of half of
/// the angle, doubled.
#[inline(always)]
pub(super) fn vector(cycles: f64) -> (f64, f64) {
    let half = std::f64::consts::PI * cycles;
    let x = half * half;
    let sine = half
        * (1.0 + x * (-1.0 / 6.0 + x * (1.0 / 120.0 + x * (-1.0 / 5040.0 + x * (1.0 / 362_880.0 - x / 39_916_800.0)))));
    let cosine = 1.0 + x * (-0.5 + x * (1.0 / 24.0 + x * (-1.0 / 720.0 + x * (1.0 / 40_320.0 - x / 3_628_800.0))));
    (1.0 - 2.0 * sine * sine, 2.0 * sine * cosine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_as_the_mathematical_library_has_them() {
        for step in -5000..=5000 {
            let cycles = f64::from(step) * 1.234_567e-4 * 7.0;
            let nearest = cycles - cycles.round();
            assert!((fraction(cycles) - nearest).abs() < 1e-12, "{cycles}");
            let (cosine, sine) = vector(nearest);
            let (right_sine, right_cosine) = (std::f64::consts::TAU * nearest).sin_cos();
            assert!((cosine - right_cosine).abs() < 1e-6 && (sine - right_sine).abs() < 1e-6, "{cycles}");
        }
        assert!((fraction(2.5).abs() - 0.5).abs() < 1e-12 && fraction(1e300).abs() <= 0.5);
    }
}
