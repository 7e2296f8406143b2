use super::*;

/// Two CPUs read a clock that is stepped now and then. Whoever is ahead, each reading is of its
/// own time.
#[test]
fn a_change_happens_at_its_time_on_every_cpu() {
    let machine = machine(2, 11);
    let clock = machine.add(SimulatedClock::new(0));
    machine.set_lookahead_ps(20 * US);
    let steps: Vec<u128> = (1..100).map(|step| step * u128::from(3 * US + 17)).collect();
    steps.iter().for_each(|at| machine.at(*at, Change::StepClock { clock, ns: 5_000 }));
    let readings = on_each(&machine, |_| {
        let mut last_ps = 0;
        for _ in 0..20_000 {
            let now_ps = machine.now_ps();
            let passed = steps.iter().filter(|at| **at <= now_ps).count() as u128;
            let ns = machine.read_clock(clock, FREE).unwrap();
            assert_eq!(u128::from(ns), now_ps / 1000 + 5_000 * passed, "{}", machine.trace());
            assert_eq!(machine.true_clock_ps(clock, now_ps) / 1000, i128::from(ns));
            machine.work_ps(30_000);
            last_ps = now_ps;
        }
        last_ps
    });
    assert!(readings.iter().all(|last_ps| last_ps > steps.last().unwrap()));
}

#[test]
fn changes_happen_while_the_only_thread_sleeps() {
    let machine = machine(1, 12);
    machine.set_lateness_ps(0, 0);
    let clock = machine.add(SimulatedClock::new(0));
    let at = |us: u64| u128::from(us * US);
    machine.at(at(30), Change::SetCounterRate { hz: 0.0 });
    machine.at(at(10), Change::SlewClock { clock, share: -1.0 });
    machine.at(at(20), Change::SlewClock { clock, share: 1.0 });
    machine.at(at(90), Change::RefuseClock { clock, refused: Some(Refused(22)) });
    machine.sleep_ps(80 * US);
    // 10 µs, none for 10, and twice 60.
    assert_eq!(machine.read_clock(clock, FREE), Ok(130_000));
    assert_eq!(machine.read_counter(FREE), 30 * US / 1024);
    machine.sleep_ps(20 * US);
    assert_eq!(machine.read_clock(clock, FREE), Err(Refused(22)));
    // The past is what it was.
    assert_eq!([5, 15, 25].map(|us| machine.true_clock_ps(clock, at(us)) / 1_000_000), [5, 10, 20]);
    assert_eq!([10, 40].map(|us| machine.true_counter(at(us), 0)), [10 * US / 1024, 30 * US / 1024]);
    let trace = machine.trace();
    assert!(trace.find("SlewClock").unwrap() < trace.find("SetCounterRate { hz: 0.0 }").unwrap(), "{trace}");
    assert!(trace.contains("30.000000 us SetCounterRate"), "{trace}");
}

/// The future is known as far as it is scheduled; what comes too late happens now.
#[test]
fn the_truth_includes_what_is_scheduled() {
    let machine = machine(1, 13);
    machine.at(u128::from(50 * US), Change::StepCounter { ticks: 1_000 });
    assert_eq!(machine.true_counter(u128::from(60 * US), 0), 60 * US / 1024 + 1_000);
    assert_eq!(machine.true_counter(u128::from(40 * US), 0), 40 * US / 1024);
    machine.work_ps(10 * US);
    machine.at(0, Change::GlitchCounter { ticks: vec![7, -7] });
    let expected = 10 * US / 1024;
    assert_eq!([0; 3].map(|_| machine.read_counter(FREE)), [expected + 7, expected - 7, expected]);
}

#[test]
fn a_suspend_stops_all_threads_and_some_clocks() {
    let machine = machine(2, 14);
    let (monotonic, boottime) = (machine.add(SimulatedClock::new(0)), machine.add(SimulatedClock::new(0)));
    machine.set_lateness_ps(0, 0);
    machine.at(u128::from(500 * US), Change::Suspend { ps: 40 * MS, left_out: vec![monotonic] });
    let read = |clock| machine.read_clock(clock, FREE).unwrap();
    let away = on_each(&machine, |cpu| {
        let before = (machine.now_ps(), read(monotonic));
        if cpu == 0 {
            machine.sleep_ps(900 * US)
        } else {
            machine.work_ps(900 * US)
        }
        let after = (machine.now_ps(), read(monotonic));
        assert_eq!(u128::from(read(boottime)), machine.now_ps() / 1000);
        (after.0 - before.0, after.1 - before.1)
    });
    for (passed_ps, clock_ns) in away {
        assert_eq!(passed_ps, u128::from(40 * MS + 900 * US));
        assert!(clock_ns.abs_diff(900_000) <= 1, "{clock_ns}");
    }
    // The clock stands meanwhile.
    let during = [500, 600, 40_400].map(|us| machine.true_clock_ps(monotonic, us * u128::from(US)));
    assert_eq!(during, [i128::from(500 * US); 3]);
    let pauses = machine.taken().into_iter().filter(|lost| lost.taken.by == Taker::Pause).collect::<Vec<_>>();
    assert_eq!(pauses.len(), 1, "a sleeper loses nothing: {pauses:?}");
    assert_eq!((pauses[0].taken.at_ps, pauses[0].taken.ps), (u128::from(500 * US), u128::from(40 * MS)));
}

/// A change that falls into a suspend happens at its end.
#[test]
fn nothing_changes_while_the_machine_is_suspended() {
    let machine = machine(1, 19);
    let clock = machine.add(SimulatedClock::new(0));
    let at = |us: u64| u128::from(us * US);
    machine.at(at(1_000), Change::Suspend { ps: MS, left_out: vec![clock] });
    machine.at(at(1_500), Change::StepClock { clock, ns: 500 });
    machine.work_ps(2 * MS);
    assert_eq!(machine.read_clock(clock, FREE), Ok(2_000_500));
    let times = [1_000, 1_700, 2_000].map(|us| machine.true_clock_ps(clock, at(us)));
    let stepped = i128::from(MS) + 500_000;
    assert_eq!(times, [i128::from(MS), i128::from(MS), stepped]);
}

/// A change that is scheduled too late for a thread that is ahead waits for that.
#[test]
fn nobody_has_read_past_a_change() {
    for seed in 0..20 {
        let machine = machine(2, seed);
        let clock = machine.add(SimulatedClock::new(0));
        machine.set_lookahead_ps(20 * US);
        let readings = on_each(&machine, |cpu| {
            let read = |turn| {
                machine.work_ps(30_000);
                if (cpu, turn) == (1, 1_000) {
                    machine.at(0, Change::StepClock { clock, ns: 5_000 });
                }
                let now_ps = machine.now_ps();
                let ns = u128::from(machine.read_clock(clock, FREE).unwrap());
                (ns > now_ps / 1000, now_ps)
            };
            (0..3_000).map(read).collect::<Vec<_>>()
        })
        .concat();
        let before = readings.iter().filter(|(is_stepped, _)| !is_stepped).map(|(_, now_ps)| now_ps).max();
        let after = readings.iter().filter(|(is_stepped, _)| *is_stepped).map(|(_, now_ps)| now_ps).min();
        assert!(before < after && before.is_some(), "{before:?} {after:?}");
    }
}

#[test]
fn a_move_changes_the_counter_and_keeps_the_clocks() {
    let machine = machine(1, 15);
    let clock = machine.add(SimulatedClock::new(0));
    let (ps, ticks) = (2 * MS, -5_000);
    machine.at(u128::from(MS), Change::MoveMachine { ps, ticks, hz: 2e9 });
    machine.work_ps(2 * MS);
    assert_eq!(machine.read_clock(clock, FREE), Ok(4_000_000));
    let expected = (MS / 1024).wrapping_add_signed(ticks) + 3 * MS / 500;
    assert!(machine.read_counter(FREE).abs_diff(expected) <= 1);
}

#[test]
fn a_cpu_becomes_busy_and_quiet_again() {
    let machine = machine(2, 16);
    let at = |ms: u64| u128::from(ms * MS);
    machine.at(at(2), Change::SetLoad { cpu: 1, load: heavy() });
    machine.at(at(4), Change::SetLoad { cpu: 1, load: Load::NONE });
    on_each(&machine, |_| {
        (0..60).for_each(|_| machine.work_ps(100 * US));
    });
    let taken = machine.taken();
    assert!(taken.len() > 50 && taken.iter().all(|lost| lost.cpu == 1), "{}", machine.trace());
    assert!(taken.iter().all(|lost| (at(2)..at(4)).contains(&lost.taken.at_ps)), "{}", machine.trace());
}

#[test]
fn a_cpu_goes_offline() {
    let machine = machine(3, 17);
    machine.at(u128::from(MS), Change::SetOnline { cpu: 1, is_online: false });
    machine.at(u128::from(5 * MS), Change::SetOnline { cpu: 1, is_online: true });
    let cpus = on_each(&machine, |_| {
        let before = machine.cpu();
        machine.work_ps(2 * MS);
        let refused = machine.bind(1);
        machine.work_ps(4 * MS);
        (before, machine.cpu(), refused.is_err(), machine.bind(1).is_ok())
    });
    assert_eq!(cpus[0], (0, 0, true, true));
    assert!(cpus[1].0 == 1 && cpus[1].1 != 1 && cpus[1].2, "{cpus:?}");
    assert_eq!(machine.bind(3), Err(Offline { cpu: 3 }));
}

/// Each glitch shows once, also if a thread is behind another change.
#[test]
fn glitches_are_visible_once() {
    for seed in 0..20 {
        let machine = machine(2, seed);
        machine.set_lookahead_ps(5 * US);
        let far = 1 << 40;
        let at = u128::from(100 * US);
        machine.at(at, Change::GlitchCounter { ticks: vec![far; 8] });
        machine.at(at + u128::from(US), Change::StepCounter { ticks: 1 });
        let counts = on_each(&machine, |_| {
            (0..10_000).filter(|_| machine.read_counter(ReadCost::ordered(250_000)) > far as u64).count()
        });
        assert_eq!(counts.iter().sum::<usize>(), 8, "seed {seed}");
    }
}

/// A thread that waits may be past a change that is scheduled later: what it has passed does not
/// happen to it again.
#[test]
fn no_thread_passes_a_change_twice() {
    for seed in 0..20 {
        let machine = machine(2, seed);
        machine.set_lookahead_ps(300 * US);
        let word = machine.word(0);
        machine.at(u128::from(200 * US), Change::Suspend { ps: 20 * US, left_out: Vec::new() });
        on_each(&machine, |cpu| {
            if cpu == 0 {
                while machine.now_ps() < u128::from(230 * US) {
                    machine.work_ps(US);
                }
                machine.wait_until(|| word.load() == 1);
            } else {
                machine.work_ps(20 * US);
                machine.at(0, Change::SetLoad { cpu: 1, load: Load::NONE });
                machine.work_ps(500 * US);
                word.store(1);
            }
        });
        let pauses = machine.taken().into_iter().filter(|lost| lost.taken.by == Taker::Pause);
        assert_eq!(pauses.count(), 2, "{}", machine.trace());
    }
}

#[test]
fn a_sleeper_wakes_on_a_cpu_that_became_busy() {
    let machine = machine(1, 18);
    machine.at(u128::from(MS), Change::SetLoad { cpu: 0, load: heavy() });
    machine.sleep_ps(2 * MS);
    machine.work_ps(2 * MS);
    assert!(machine.taken().len() > 50, "{}", machine.trace());
}
