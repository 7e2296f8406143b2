//! The shared words: their values, when these were stored, and which CPUs have them.

/// One word.
#[derive(Debug)]
pub(super) struct CacheLine {
    pub(super) value: u64,
    /// Rises with each store.
    pub(super) version: u64,
    /// Time at which the value became visible.
    pub(super) stored_ps: u128,
    /// The number of the thread that stored it; `None` for the first value.
    pub(super) writer: Option<u32>,
    /// A bit for each CPU that has the value.
    holders: Vec<u64>,
}

impl CacheLine {
    fn new(value: u64, cpus: u32) -> Self {
        // The first value is where it is needed.
        let holders = vec![u64::MAX; cpus.div_ceil(64) as usize];
        Self { value, version: 0, stored_ps: 0, writer: None, holders }
    }

    /// Returns whether this CPU has the value.
    pub(super) fn is_at(&self, cpu: u32) -> bool {
        self.holders[cpu as usize / 64] >> (cpu % 64) & 1 == 1
    }

    /// Returns whether this CPU has it, and no other one.
    pub(super) fn is_only_at(&self, cpu: u32) -> bool {
        self.is_at(cpu) && self.holders.iter().map(|bits| bits.count_ones()).sum::<u32>() == 1
    }

    /// Brings the value to this CPU.
    pub(super) fn bring_to(&mut self, cpu: u32) {
        self.holders[cpu as usize / 64] |= 1 << (cpu % 64);
    }

    /// Stores a value, which only this CPU has.
    pub(super) fn store(&mut self, value: u64, now_ps: u128, thread: u32, cpu: u32) {
        self.holders.fill(0);
        self.bring_to(cpu);
        (self.value, self.stored_ps, self.writer) = (value, now_ps, Some(thread));
        self.version += 1;
    }
}

/// All words.
#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    lines: Vec<CacheLine>,
    unused: Vec<usize>,
}

impl SharedMemory {
    pub(super) fn add(&mut self, value: u64, cpus: u32) -> usize {
        let line = CacheLine::new(value, cpus);
        match self.unused.pop() {
            Some(index) => {
                self.lines[index] = line;
                index
            }
            None => {
                self.lines.push(line);
                self.lines.len() - 1
            }
        }
    }

    pub(super) fn remove(&mut self, index: usize) {
        self.unused.push(index);
    }

    pub(super) fn line(&mut self, index: usize) -> &mut CacheLine {
        &mut self.lines[index]
    }
}
