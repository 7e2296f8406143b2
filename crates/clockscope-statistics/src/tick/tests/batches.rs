//! Clocks that a program reads in batches, between which it does something else.

use super::*;

/// A clock that a program reads in batches of a thousand; from one to the next it counts what it
/// has read. Its ticks are rounded to whole units.
#[derive(Clone, Copy, Debug)]
struct Batched {
    /// In units.
    period: f64,
    /// Of a read, its share that varies, and from batch to batch, in ticks.
    cost: f64,
    jitter: f64,
    pause: f64,
}

impl Batched {
    fn random(period: f64, random: &mut Random) -> Self {
        let (cost, pause) = (random.scale(0.02, 2.0), random.scale(20.0, 2000.0));
        Self { period, cost, jitter: random.scale(0.01, 0.3), pause }
    }

    /// As many as a probe prints.
    fn tick(self, random: &mut Random) -> Tick {
        let mut time = random.within(0.0, 1e6);
        let mut collector = TickCollector::new(20_001);
        for _ in 0..1000 {
            let mut read = || {
                time += self.cost * (1.0 + self.jitter * random.within(-1.0, 1.0));
                (time.floor() * self.period).round() as u64
            };
            collector.push(&(0..1000).map(|_| read()).collect::<Vec<_>>());
            time += self.pause * (1.0 + 0.02 * random.normal().abs());
        }
        collector.tick()
    }
}

/// Number of the clocks' ticks that were found, none of them wrongly.
fn found_in_batches(clock_count: usize, seed: u64, mut period: impl FnMut(&mut Random) -> f64) -> usize {
    let is_found = |number: &usize| {
        let mut random = Random::new(seed + *number as u64);
        let clock = Batched::random(period(&mut random), &mut random);
        match clock.tick(&mut random) {
            Tick::Unknown(_) => false,
            Tick::Found(lattice) if is_right(lattice.period, clock.period) => true,
            wrong => panic!("seed {}: {clock:?} gave {wrong:?}", seed + *number as u64),
        }
    };
    (0..clock_count).filter(is_found).count()
}

/// Seconds since 1970 as a double, of whole µs: they are rounded to multiples of 2^-22 s. Nearly
/// all steps are of a single tick, 4, 4, 4, 4, 5 units, so that truncations follow from one
/// another.
#[test]
fn microseconds_that_were_rounded_to_doubles() {
    let clock_count = clock_count(150);
    let found = found_in_batches(clock_count, 0xD0B1, |_| 4.194_304);
    println!("{found} of {clock_count}");
    assert!(found as f64 >= 0.85 * clock_count as f64, "{found} of {clock_count} found");
}

/// As Perl reads them: 70 µs a batch, then 250 µs in which it counts.
#[test]
fn microseconds_in_short_batches_with_long_pauses() {
    let clock_count = clock_count(60);
    let found = (0..clock_count).filter(|number| {
        let mut random = Random::new(0x9E71 + *number as u64);
        let clock = Batched {
            period: 4.194_304,
            cost: random.within(0.06, 0.08),
            jitter: 0.1,
            pause: random.within(240.0, 260.0),
        };
        matches!(clock.tick(&mut random), Tick::Found(lattice) if is_right(lattice.period, clock.period))
    });
    let found = found.count();
    println!("{found} of {clock_count}");
    assert_eq!(found, clock_count);
}

#[test]
fn ticks_of_three_to_five_units_in_batches() {
    let clock_count = clock_count(150);
    let found = found_in_batches(clock_count, 0x3705, |random| random.within(3.0, 5.0));
    println!("{found} of {clock_count}");
    assert!(found as f64 >= 0.85 * clock_count as f64, "{found} of {clock_count} found");
}

/// A loop in C that reads a clock of 10.0148 ns in 23.3 ns: 2, 2, 3 ticks in turn, hardly ever
/// anything else. What a cost of three turns cannot do is make the pauses between its batches whole
/// ticks as well.
#[test]
fn a_constant_cost_on_a_tick_is_recognized_by_the_pauses() {
    let mut reported = 0;
    for number in 0..clock_count(40) {
        let mut random = Random::new(0x2333 + number as u64);
        let (period, cost) = (10.0148, 23.3 + random.within(0.0, 0.05));
        let mut time = random.within(1e6, 1e9);
        let mut read = |index: usize| {
            time += if index.is_multiple_of(1000) { random.within(28_000.0, 43_000.0) } else { cost };
            ((time / period).floor() * period) as u64
        };
        let found = tick(&(0..20_000).map(&mut read).collect::<Vec<_>>());
        let is_right = matches!(found, Tick::Found(lattice) if is_right(lattice.period, period));
        reported += usize::from(is_right);
        assert!(is_right || matches!(found, Tick::Unknown(_)), "case {number}: {cost} {found:?}");
    }
    println!("{reported} of {}", clock_count(40));
    assert!(reported as f64 >= 0.8 * clock_count(40) as f64, "{reported} of {} were reported", clock_count(40));
}

/// Batches of reads whose costs repeat in a cycle, on a clock whose tick is much finer: what passes
/// from one batch to the next is no multiple of anything.
#[test]
fn a_constant_cost_in_batches_is_no_tick() {
    for number in 0..clock_count(150) {
        let mut random = Random::new(0xBA7C + number as u64);
        let unit = random.scale(3.0, 300.0);
        // Of more than two different costs, that they are all multiples would be no accident.
        let longer = 1.0 + (1 + random.any() % 3) as f64 / (1 + random.any() % 3) as f64;
        let cost = |random: &mut Random| if random.any().is_multiple_of(2) { unit } else { longer * unit };
        let costs: Vec<f64> = (0..1 + random.any() % 5).map(|_| cost(&mut random)).collect();
        let jitter = if random.any().is_multiple_of(2) { 0.0 } else { unit * random.scale(1e-4, 0.1) };
        let pause = unit * random.scale(10.0, 10_000.0);
        let varies = random.scale(0.01, 1.0);
        let mut time = random.within(1e6, 1e9);
        let (mut collector, mut turn) = (TickCollector::new(20_001), 0);
        let batch = 100 + random.any() as usize % 1900;
        while !collector.is_full() {
            let mut read = || {
                turn += 1;
                time += costs[turn % costs.len()] + jitter * random.normal();
                time as u64
            };
            collector.push(&(0..batch).map(|_| read()).collect::<Vec<_>>());
            time += pause * (1.0 + varies * random.within(0.0, 1.0));
        }
        let found = collector.tick();
        assert!(
            !matches!(found, Tick::Found(_)),
            "case {number}: {costs:?}, jitter {jitter}, pause {pause} by {varies}, batches of {batch} gave {found:?}"
        );
    }
}
