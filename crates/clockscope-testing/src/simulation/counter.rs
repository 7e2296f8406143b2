//! The processor's counter, as each CPU shows it.

use crate::simulation::linear::Linear;

/// A counter of a rate of its own. All CPUs count the same, each from where it began.
#[derive(Clone, Debug)]
pub struct SimulatedCounter {
    line: Linear,
    /// Counts at a time: a counter may advance by 26 ticks at once.
    step: u64,
    /// Bits that count.
    bits: u32,
    /// Lead of each CPU, in counts; 0 for those that are not named.
    offsets: Vec<i64>,
    /// Errors of the next readings, the next one first.
    glitches: Vec<i64>,
    /// Time at which it had last counted before its rate changed.
    counted_ps: u128,
}

impl SimulatedCounter {
    /// A counter of `hz` that is at `start` now.
    #[must_use]
    pub fn new(hz: f64, start: u64) -> Self {
        let line = Linear::new(start, hz);
        Self { line, step: 1, bits: 64, offsets: Vec::new(), glitches: Vec::new(), counted_ps: 0 }
    }

    /// Sets its step: it advances by `step` counts at once.
    #[must_use]
    pub fn with_step(self, step: u64) -> Self {
        Self { step: step.max(1), ..self }
    }

    /// Sets its width: it wraps after `bits` bits.
    #[must_use]
    pub fn with_bits(self, bits: u32) -> Self {
        Self { bits: bits.clamp(1, 64), ..self }
    }

    /// The true value on this CPU, without steps, wraps and glitches.
    #[must_use]
    pub fn truth(&self, now_ps: u128, cpu: u32) -> u64 {
        (self.line.at(now_ps) as u64).wrapping_add_signed(self.offset(cpu))
    }

    /// Count that a reading on this CPU shows. Takes a glitch, if one is due.
    pub fn read(&mut self, now_ps: u128, cpu: u32) -> u64 {
        let glitch = if self.glitches.is_empty() { 0 } else { self.glitches.remove(0) };
        self.stepped(now_ps, cpu).wrapping_add_signed(glitch) & (u64::MAX >> (64 - self.bits))
    }

    /// Count that this CPU shows but for wraps, of which a kernel keeps account, and glitches.
    pub(crate) fn stepped(&self, now_ps: u128, cpu: u32) -> u64 {
        self.truth(now_ps, cpu) / self.step * self.step
    }

    /// Time at which a CPU without an offset counts what this CPU shows: before now by less than a
    /// step, and by what this CPU is behind. `None` while it stands still or goes back.
    pub(crate) fn counted_at(&self, now_ps: u128, cpu: u32) -> Option<u128> {
        let true_count = self.line.at(now_ps);
        let ahead = self.stepped(now_ps, cpu).wrapping_sub(true_count as u64) as i64;
        let counted_ps = self.line.when(true_count + i128::from(ahead))?;
        // What it counted at its former rate it did not count any earlier since then.
        Some(if self.offset(cpu) == 0 { counted_ps.max(self.counted_ps) } else { counted_ps })
    }

    /// Counts at this frequency from now on.
    pub(crate) fn set_rate(&mut self, now_ps: u128, hz: f64) {
        self.counted_ps = self.counted_at(now_ps, 0).unwrap_or(0);
        self.line.set_rate(now_ps, hz);
    }

    /// Lead of this CPU, in counts.
    #[must_use]
    pub fn offset(&self, cpu: u32) -> i64 {
        self.offsets.get(cpu as usize).copied().unwrap_or(0)
    }

    /// Sets the lead of this CPU, in counts.
    pub fn set_offset(&mut self, cpu: u32, ticks: i64) {
        let index = cpu as usize;
        if self.offsets.len() <= index {
            self.offsets.resize(index + 1, 0);
        }
        self.offsets[index] = ticks;
    }

    /// Has the next readings be off by these.
    pub fn glitch(&mut self, off: impl IntoIterator<Item = i64>) {
        self.glitches.extend(off);
    }

    /// Drops the glitches that are due.
    pub(crate) fn drop_glitches(&mut self) {
        self.glitches.clear();
    }

    /// The rate, the value, and how both are changed.
    pub fn line(&mut self) -> &mut Linear {
        &mut self.line
    }

    /// The frequency in Hz.
    #[must_use]
    pub fn hz(&self) -> f64 {
        self.line.per_second()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock that is computed from the counter went back when that slowed down in the middle of
    /// its step.
    #[test]
    fn what_was_counted_stays_counted() {
        for hz in [0.5e9, 0.9e9, 1.1e9, 2e9] {
            let mut counter = SimulatedCounter::new(1e9, 0).with_step(26);
            let before_ps = counter.counted_at(1_020_000, 0);
            counter.set_rate(1_020_000, hz);
            let mut last_ps = before_ps;
            for now_ps in (1_020_000..1_200_000).step_by(500) {
                let counted_ps = counter.counted_at(now_ps, 0);
                assert!(counted_ps >= last_ps && counted_ps <= Some(now_ps), "{hz}: {counted_ps:?} at {now_ps}");
                last_ps = counted_ps;
            }
        }
    }

    #[test]
    fn each_cpu_shows_its_own_steps_and_wraps() {
        let mut counter = SimulatedCounter::new(1e9, 1000).with_step(26).with_bits(10);
        counter.set_offset(2, -100);
        assert_eq!((counter.truth(500_500, 0), counter.truth(500_500, 2)), (1500, 1400));
        assert_eq!(counter.read(500_500, 0), 1500 / 26 * 26 % 1024);
        assert_eq!(counter.read(500_500, 2), 1400 / 26 * 26 % 1024);
        counter.glitch([5, -5]);
        assert_eq!([0; 3].map(|cpu| counter.read(0, cpu)), [988 + 5, 988 - 5, 988]);
        counter.line().set_rate(500_500, 0.0);
        assert_eq!(counter.truth(900_000, 0), 1500);
    }
}
