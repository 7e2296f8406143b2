use std::sync::Mutex;

use super::*;

/// No thread acts when another one is behind by more than the lookahead and one step.
#[test]
fn threads_stay_together() {
    for lookahead in [0, US, 50 * US] {
        let machine = machine(3, 21);
        machine.set_lookahead_ps(lookahead);
        let order = Mutex::new(Vec::new());
        on_each(&machine, |cpu| {
            for _ in 0..2_000 {
                machine.work_ps(30_000 + 10_000 * u64::from(cpu));
                let now_ps = machine.now_ps() as u64;
                order.lock().unwrap().push(now_ps);
            }
        });
        let (mut most, mut back) = (0, 0);
        // The threads start and end at different times.
        for now_ps in order.into_inner().unwrap() {
            most = most.max(now_ps);
            back = back.max(most - now_ps);
        }
        assert!(back <= lookahead + 100_000, "{lookahead}: {back}");
        assert!(back >= lookahead / 2, "{lookahead}: {back}");
    }
}

#[test]
fn threads_start_and_end_in_their_parents_time() {
    let machine = machine(2, 22);
    machine.work_ps(MS);
    let start = machine.now_ps();
    let times = machine.together(vec![
        Box::new(|| {
            machine.work_ps(5 * MS);
            machine.now_ps()
        }) as Body<'_, u128>,
        Box::new(|| machine.now_ps()),
    ]);
    let [Ok(long), Ok(short)] = times[..] else { panic!("{times:?}") };
    assert!((start + 1..start + u128::from(MS)).contains(&short));
    assert!(long >= start + u128::from(5 * MS) && machine.now_ps() > long);
    assert_eq!((machine.thread(), machine.together(Vec::<Body<'_, ()>>::new()).len()), (0, 0));
}

#[test]
fn a_sleeper_wakes_late() {
    let machine = machine(1, 23);
    machine.set_lateness_ps(3 * US, 5 * US);
    for _ in 0..50 {
        let before = machine.now_ps();
        machine.sleep_ps(MS);
        let late = machine.now_ps() - before - u128::from(MS);
        assert!((u128::from(3 * US)..=u128::from(5 * US)).contains(&late), "{late}");
    }
    assert_eq!(machine.account().voluntary, 50);
}

/// A thread that has slept has a turn before it is preempted.
#[test]
fn a_sleeper_has_a_turn() {
    let machine = machine(1, 31);
    machine.set_load(0, Load { tick_ns: 100_000, competitors: 1, slice_ns: 300_000, ..Load::NONE });
    for _ in 0..100 {
        machine.sleep_ps(MS);
        machine.work_ps(150 * US);
    }
    assert_eq!(machine.account().involuntary, 0);
    machine.work_ps(2 * MS);
    assert!(machine.account().involuntary > 0);
}

/// A sleeper does not keep others from running, and they do not keep it from waking in time.
#[test]
fn sleepers_and_workers_do_not_wait_for_each_other() {
    let machine = machine(2, 24);
    machine.set_lateness_ps(0, 0);
    let word = machine.word(0);
    let seen = on_each(&machine, |cpu| {
        if cpu == 0 {
            machine.sleep_ps(10 * MS);
            return word.load();
        }
        for turn in 1..=200 {
            machine.work_ps(100 * US);
            word.store(turn);
        }
        0
    });
    assert!((95..105).contains(&seen[0]), "{seen:?}");
}

/// A thread that waits goes on soon after the store, although others go on, and although it
/// looks at another word that changes all the time.
#[test]
fn a_wait_ends_soon_after_the_store() {
    let machine = machine(2, 32);
    let words = [0; 3].map(|_| machine.word(0));
    let [signal, noise, answer] = &words;
    on_each(&machine, |cpu| {
        if cpu == 1 {
            answer.store(u64::MAX);
        }
        machine.wait_until(|| answer.load() > 0);
        for turn in 1..=200 {
            if cpu == 1 {
                machine.wait_until(|| (signal.load(), noise.load()).0 == turn);
                answer.store(turn);
                continue;
            }
            for step in 0..20 + turn % 10 {
                machine.work_ps(20_000);
                noise.store(turn * 1_000 + step);
            }
            signal.store(turn);
            let stored_ps = machine.now_ps();
            let is_seen = (0..1_000).any(|_| {
                machine.work_ps(20_000);
                answer.load() == turn
            });
            assert!(is_seen, "turn {turn}\n{}", machine.trace());
            assert!(machine.now_ps() - stored_ps < u128::from(5 * US), "turn {turn}");
        }
    });
}

#[test]
fn a_wait_that_nobody_can_end_is_reported() {
    let machine = machine(2, 25);
    let (word, other) = (machine.word(0), machine.word(0));
    let ended = machine.together(vec![
        Box::new(|| machine.wait_until(|| word.load() == 1)) as Body<'_, ()>,
        Box::new(|| machine.wait_until(|| other.load() == 1)),
        Box::new(|| machine.work_ps(MS)),
    ]);
    for waiting in &ended[..2] {
        let Panicked(text) = waiting.as_ref().unwrap_err();
        assert!(text.contains("deadlock") && text.contains("thread 3 ended"), "{text}");
    }
    assert_eq!(ended[2], Ok(()));
    let alone = std::panic::catch_unwind(|| machine.wait_until(|| word.load() == 1));
    assert!(alone.is_err());
    // It goes on after that.
    word.store(1);
    machine.wait_until(|| word.load() == 1);
}

/// A loop that waits for a clock that stands does not go on forever.
#[test]
fn the_simulated_time_can_end() {
    let machine = machine(2, 34);
    let clock = machine.add(SimulatedClock::new(0));
    machine.at(0, Change::FreezeClock { clock });
    machine.set_end_ps(u128::from(5 * MS));
    let word = machine.word(0);
    let ended = machine.together(vec![
        Box::new(|| {
            let _slow = Slow(&machine, &word);
            while machine.read_clock(clock, ReadCost::ordered(30_000)) < Ok(1_000_000) {}
        }) as Body<'_, ()>,
        Box::new(|| machine.wait_until(|| word.load() == 1)),
    ]);
    for ended in ended {
        let Panicked(text) = ended.unwrap_err();
        assert!(text.contains("time is over") && text.contains("FreezeClock"), "{text}");
    }
}

/// Nor does one that only sleeps.
#[test]
#[should_panic(expected = "time is over")]
fn the_simulated_time_can_end_in_a_sleep() {
    let machine = machine(1, 35);
    machine.set_end_ps(u128::from(5 * MS));
    for _ in 0..100 {
        machine.sleep_ps(MS);
    }
}

/// Stores a word when it is dropped.
struct Leaving<'a>(&'a Word);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.store(1);
    }
}

/// Unwinds slowly.
struct Slow<'a>(&'a Multiprocessor, &'a Word);

impl Drop for Slow<'_> {
    fn drop(&mut self) {
        (0..100).for_each(|_| self.0.work_ps(US));
        self.1.store(1);
    }
}

/// The waits of other threads are not cut short while one unwinds.
#[test]
fn a_panic_ends_no_wait() {
    let machine = machine(2, 33);
    let word = machine.word(0);
    let ended = machine.together(vec![
        Box::new(|| {
            let _slow = Slow(&machine, &word);
            machine.work_ps(50 * US);
            assert!(word.load() == 1, "on purpose");
            0_u64
        }) as Body<'_, u64>,
        Box::new(|| {
            machine.work_ps(100 * US);
            machine.wait_until(|| word.load() == 1);
            word.load()
        }),
    ]);
    assert!(ended[0].is_err());
    assert_eq!(ended[1], Ok(1));
}

/// A thread that ends by a panic ends alone, and what it stores while it unwinds is seen.
#[test]
fn a_panic_ends_one_thread() {
    let machine = machine(2, 26);
    let (word, never) = (machine.word(0), machine.word(0));
    for is_deadlock in [false, true] {
        word.store(0);
        let ended = machine.together(vec![
            Box::new(|| {
                let _leaving = Leaving(&word);
                machine.work_ps(10 * US);
                assert!(is_deadlock, "on purpose");
                machine.wait_until(|| never.load() == 1);
                0_u64
            }) as Body<'_, u64>,
            Box::new(|| {
                machine.wait_until(|| word.load() == 1);
                7
            }),
        ]);
        let Panicked(text) = ended[0].as_ref().unwrap_err();
        assert!(text.contains(if is_deadlock { "deadlock" } else { "on purpose" }), "{text}");
        assert_eq!(ended[1], Ok(7));
    }
}

#[test]
fn a_simulated_thread_starts_no_others() {
    let machine = machine(1, 27);
    let nested = || _ = machine.together(vec![Box::new(|| ()) as Body<'_, ()>]);
    let ended = machine.together(vec![Box::new(nested) as Body<'_, ()>]);
    assert!(ended[0].as_ref().unwrap_err().0.contains("cannot start"), "{ended:?}");
}

/// A thread that spins on a busy CPU loses time, too.
#[test]
fn who_waits_may_lose_its_cpu() {
    let machine = machine(2, 28);
    machine.set_load(1, heavy());
    let word = machine.word(0);
    on_each(&machine, |cpu| {
        if cpu == 0 {
            machine.work_ps(20 * MS);
            word.store(1);
        } else {
            machine.wait_until(|| word.load() == 1);
        }
    });
    assert!(machine.taken().len() > 100, "{}", machine.trace());
}

#[test]
fn threads_that_are_not_bound_move() {
    let machine = machine(4, 29);
    (0..4).for_each(|cpu| machine.set_load(cpu, Load { migrates: 0.5, ..heavy() }));
    machine.at(0, Change::SetOnline { cpu: 3, is_online: false });
    let body = |is_bound: bool| -> Body<'_, usize> {
        let machine = &machine;
        Box::new(move || {
            machine.bind(2).unwrap();
            if !is_bound {
                machine.unbind();
            }
            let mut cpus = vec![machine.cpu()];
            for _ in 0..200 {
                machine.work_ps(100 * US);
                cpus.push(machine.cpu());
            }
            assert!(!cpus.contains(&3));
            cpus.dedup();
            cpus.len()
        })
    };
    let moves = machine.together(vec![body(true), body(false)]);
    assert_eq!(moves[0], Ok(1));
    assert!(moves[1].as_ref().unwrap() > &10, "{moves:?}");
    assert!(machine.trace().contains("migrated from CPU"));
}

/// Many threads, each with deep frames.
#[test]
fn sixty_four_cpus() {
    let machine = machine(64, 30);
    let word = machine.word(0);
    let sums = on_each(&machine, |cpu| {
        let frame = std::hint::black_box([u64::from(cpu); 16_384]);
        word.fetch_add(1);
        machine.wait_until(|| word.load() == 64);
        frame.iter().sum::<u64>()
    });
    assert_eq!(sums[63], 63 * 16_384);
}

/// CPU time leaves out what a thread loses and sleeps, and includes its interrupts.
#[test]
fn cpu_time_is_the_time_in_which_threads_ran() {
    let machine = machine(2, 13);
    (0..2).for_each(|cpu| machine.set_load(cpu, heavy()));
    let add = |counted| machine.add(SimulatedClock::new(0).counting(counted));
    let (thread, process) = (add(Counted::ThreadTime), add(Counted::ProcessTime));
    let read = |clock| machine.read_clock(clock, FREE).unwrap();
    let before = (read(thread), read(process));
    let ran_ns = on_each(&machine, |_| {
        let (from_ps, from_ns) = (machine.now_ps(), read(thread));
        machine.work_ps(5 * MS);
        machine.sleep_ps(3 * MS);
        machine.work_ps(0);
        let is_own = |lost: &Lost| lost.thread == machine.thread() && lost.taken.at_ps >= from_ps;
        let interrupted = |lost: &Lost| is_own(lost) && lost.taken.by == Taker::Interrupt;
        let interrupts_ps: u128 =
            machine.taken().iter().filter(|lost| interrupted(lost)).map(|lost| lost.taken.ps).sum();
        let ran_ns = read(thread) - from_ns;
        assert!(ran_ns.abs_diff(5_000_000 + (interrupts_ps / 1000) as u64) <= 1, "{ran_ns} {}", machine.trace());
        ran_ns
    });
    // The one that waited for them did not run; what starts and binds threads did.
    assert!(read(thread) - before.0 < 1_000_000);
    let of_others = read(process) - before.1 - (read(thread) - before.0);
    assert!(of_others >= ran_ns.iter().sum() && of_others < ran_ns.iter().sum::<u64>() + 1_000_000);
}
