//! Length of a tick as a fixed-point number of 64 significant bits.

/// ns a tick × 2^`shift`, with the highest bit set. All zero is a length of zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TickLength {
    pub(crate) mantissa: u64,
    /// 0 to 127.
    pub(crate) shift: u32,
}

impl TickLength {
    /// The length of a positive number of ns.
    pub(crate) fn new(ns_per_tick: f64) -> Self {
        // The exponent of a positive f64 is the shift by which it fills 64 bits.
        let exponent = ((ns_per_tick.to_bits() >> 52) & 0x7ff) as i32 - 1023;
        let shift = (63 - exponent).clamp(0, 127);
        Self { mantissa: (ns_per_tick * scale(shift)) as u64, shift: shift as u32 }
    }

    /// Converts a number of ticks to ns, rounded down. Saturates where that does not fit.
    #[inline(always)]
    pub(crate) fn ns(self, ticks: u64) -> u64 {
        let product = u128::from(ticks) * u128::from(self.mantissa);
        u64::try_from(product >> self.shift).unwrap_or(u64::MAX)
    }
}

/// 2^`shift`, exactly, for 0 to 127.
fn scale(shift: i32) -> f64 {
    f64::from_bits(((1023 + shift) as u64) << 52)
}
