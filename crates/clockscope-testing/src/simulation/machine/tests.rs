use std::rc::Rc;

use proptest::prelude::*;

use super::*;

const MS: u128 = 1_000_000_000;

fn machine() -> (Uniprocessor, ClockId) {
    // A rate that has no rest: 1024 ps a tick.
    let machine = Uniprocessor::new(SimulatedCounter::new(1e12 / 1024.0, 0));
    let clock = machine.add(SimulatedClock::new(0));
    (machine, clock)
}

#[test]
fn a_value_is_taken_in_the_middle_of_its_read() {
    let (machine, clock) = machine();
    assert_eq!(machine.read_counter(20_480), 10);
    assert_eq!(machine.read_clock(clock, 40_000), Ok(40));
    assert_eq!((machine.now_ps(), machine.reads()), (60_480, 2));
}

#[test]
fn what_takes_the_cpu_makes_a_read_longer_and_no_value_wrong() {
    let (machine, clock) = machine();
    machine.set_load(Load { competitors: 3, slice_ns: 4_000_000, ..Load::NONE }, 1);
    let mut longest = 0;
    while machine.now_ps() < 1000 * MS {
        let before = machine.now_ps();
        let ns = u128::from(machine.read_clock(clock, 20_000).unwrap());
        assert!((before / 1000..=machine.now_ps() / 1000).contains(&ns));
        longest = longest.max(machine.now_ps() - before);
    }
    assert_eq!(longest, 12 * MS + 20_000, "three turns of 4 ms");
}

#[test]
fn a_suspend_moves_the_counter_and_the_clocks_that_count_it() {
    let (machine, clock) = machine();
    let boottime = machine.add(SimulatedClock::new(0));
    machine.suspend_ps(5 * MS, &[clock]);
    assert_eq!((machine.read_clock(clock, 0), machine.read_clock(boottime, 0)), (Ok(0), Ok(5_000_000)));
    assert_eq!((machine.read_counter(0), machine.suspended_ps()), (5_000_000_000 / 1024, 5 * MS));
}

#[test]
fn a_read_is_interrupted_where_that_was_requested() {
    let (machine, _) = machine();
    let (machine, seen) = (Rc::new(machine), Rc::new(Cell::new(0)));
    for (after, moment) in [(2, Moment::After), (1, Moment::Before)] {
        let (other, seen) = (Rc::clone(&machine), Rc::clone(&seen));
        machine.interrupt_at(after, moment, move || {
            other.pass_ps(1_024_000);
            seen.set(seen.get() + 1);
        });
    }
    // A microsecond before the second value is taken, and one after the third.
    assert_eq!([0; 4].map(|_| machine.read_counter(0)), [0, 1000, 1000, 2000]);
    assert_eq!(seen.get(), 2);
    let (now, other) = (Rc::clone(&seen), Rc::clone(&seen));
    machine.interrupt_at_point(move || now.get() == 3, move || other.set(9));
    machine.preemption_point();
    seen.set(3);
    machine.preemption_point();
    assert_eq!(seen.get(), 9);
}

proptest! {
    /// One seed gives the same readings each time, whatever the machine has to do.
    #[test]
    fn the_seed_decides(seed: u64, competitors in 0u32..8, slice_ns in 1_000_000u64..10_000_000, cpus in 1u32..4) {
        let readings = |seed: u64| {
            let (machine, clock) = machine();
            machine.counter().set_offset(1, 12_345);
            let load = Load {
                competitors,
                slice_ns,
                interrupts_every_ns: 700_000,
                interrupt_ns: (1_000, 30_000),
                stolen_every_ns: 9_000_000,
                stolen_ns: (50_000, 2_000_000),
                cpus,
                migrates: 0.3,
                ..Load::NONE
            };
            machine.set_load(load, seed);
            machine.set_jitter(0.1, seed ^ 1);
            (0..3_000).map(|_| (machine.read_counter(9_000), machine.read_clock(clock, 5_000_000))).collect::<Vec<_>>()
        };
        let once = readings(seed);
        prop_assert_eq!(&once, &readings(seed));
        prop_assert!(once.windows(2).all(|pair| pair[0].1 <= pair[1].1), "a clock that is right never goes back");
        prop_assert_ne!(once, readings(seed ^ 0x55));
    }
}
