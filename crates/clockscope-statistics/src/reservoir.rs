//! A sample of bounded size of a stream of unbounded length.

/// Keeps up to a fixed number of values, each of the stream's values with the same probability
/// (Vitter's algorithm R). All memory is taken at the start: pushing never allocates, except into a
/// clone.
#[derive(Clone, Debug)]
pub struct Reservoir {
    values: Vec<f64>,
    /// Not that of the list, which a clone of it does not keep.
    capacity: usize,
    seen: u64,
    state: u64,
}

impl Reservoir {
    /// A reservoir for `capacity` values. Its choices are a fixed pseudo-random sequence.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { values: Vec::with_capacity(capacity), capacity, seen: 0, state: 0x9E37_79B9_7F4A_7C15 }
    }

    /// Takes the next value of the stream.
    pub fn push(&mut self, value: f64) {
        self.seen += 1;
        if self.values.len() < self.capacity {
            self.values.push(value);
        } else {
            let index = (self.random() % self.seen) as usize;
            if let Some(slot) = self.values.get_mut(index) {
                *slot = value;
            }
        }
    }

    /// Number of values that were pushed.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The kept values in ascending order.
    #[must_use]
    pub fn into_sorted(mut self) -> Vec<f64> {
        self.values.sort_by(f64::total_cmp);
        self.values
    }

    /// The kept values, in no particular order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// xorshift64* (Vigna 2016): good enough to choose, and no dependency.
    fn random(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_stream_is_retained_whole() {
        let mut reservoir = Reservoir::new(4);
        for value in [3.0, 1.0, 2.0] {
            reservoir.push(value);
        }
        assert_eq!(reservoir.seen(), 3);
        assert_eq!(reservoir.into_sorted(), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_clone_takes_as_many_values() {
        let mut reservoir = Reservoir::new(4);
        reservoir.push(1.0);
        let mut clone = reservoir.clone();
        for value in [5.0, 2.0, 4.0, 3.0] {
            reservoir.push(value);
            clone.push(value);
        }
        assert_eq!(clone.into_sorted(), reservoir.into_sorted());
    }

    #[test]
    fn a_long_stream_is_represented_evenly() {
        let mut reservoir = Reservoir::new(1000);
        for value in 0..100_000 {
            reservoir.push(f64::from(value));
        }
        let values = reservoir.into_sorted();
        assert_eq!(values.len(), 1000);
        // The median of a uniform stream: 50,000 with a standard deviation of about 1,600.
        assert!((values[500] - 50_000.0).abs() < 8_000.0, "{}", values[500]);
    }
}
