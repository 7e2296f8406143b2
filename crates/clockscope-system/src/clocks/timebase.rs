//! The unit of macOS' counts: a fraction of a nanosecond, as mach_timebase_info states it.

/// The unit of counts in ns: 1/1 on Intel's processors, 125/3 on Apple's at 24 MHz.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timebase {
    numerator: u32,
    denominator: u32,
}

impl Timebase {
    /// Makes one of what mach_timebase_info states; `None` if one of both is 0.
    pub(crate) fn new(numerator: u32, denominator: u32) -> Option<Self> {
        (numerator > 0 && denominator > 0).then_some(Self { numerator, denominator })
    }

    /// Returns the length of a count in ns.
    pub(crate) fn count_ns(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// Returns how many counts a second has.
    pub(crate) fn frequency_hz(self) -> f64 {
        1e9 * f64::from(self.denominator) / f64::from(self.numerator)
    }

    /// Returns counts in ns, rounded down once: the product has 128 bits.
    #[inline(always)]
    pub(crate) fn nanoseconds(self, counts: u64) -> u64 {
        (u128::from(counts) * u128::from(self.numerator) / u128::from(self.denominator)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Apple's QA1398 and "Addressing architectural differences in your macOS code": 1/1 on Intel,
    /// 125/3 on Apple silicon. PowerPC's was 1000000000/33333335 (QA1398).
    #[test]
    fn fractions_that_apple_documents_are_exact() {
        let timebase = |numerator, denominator| Timebase::new(numerator, denominator).unwrap();
        assert_eq!(
            (timebase(1, 1).count_ns(), timebase(1, 1).frequency_hz(), timebase(1, 1).nanoseconds(u64::MAX)),
            (1.0, 1e9, u64::MAX)
        );
        let apple = timebase(125, 3);
        assert_eq!((apple.frequency_hz(), apple.nanoseconds(24_000_000)), (24e6, 1_000_000_000));
        // A rounded unit of 41 or 42 ns would be wrong by 16 and 8 ms in a second.
        assert_eq!([1, 2, 3, 4].map(|counts| apple.nanoseconds(counts)), [41, 83, 125, 166]);
        // A hundred years, whose product has more than 64 bits.
        assert_eq!(apple.nanoseconds(100 * 365 * 86_400 * 24_000_000), 100 * 365 * 86_400 * 1_000_000_000);
        assert_eq!(timebase(1_000_000_000, 33_333_335).nanoseconds(33_333_335), 1_000_000_000);
    }

    #[test]
    fn a_fraction_with_a_zero_is_no_unit() {
        assert_eq!([Timebase::new(0, 3), Timebase::new(125, 0), Timebase::new(0, 0)], [None; 3]);
    }
}
