use proptest::prelude::*;

use super::*;
use crate::cases;
use crate::simulation::clock::Counted;
use crate::simulation::scheduler::Taker;

mod changes;
mod threads;

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;
const FREE: ReadCost = ReadCost::ordered(0);

fn machine(cpus: u32, seed: u64) -> Arc<Multiprocessor> {
    // A rate that has no rest: 1024 ps a count.
    Multiprocessor::new(SimulatedCounter::new(1e12 / 1024.0, 0), cpus, seed)
}

/// A load in which a thread loses its CPU in every way, many times in a few ms.
fn heavy() -> Load {
    Load {
        tick_ns: 100_000,
        competitors: 1,
        slice_ns: 150_000,
        interrupts_every_ns: 20_000,
        interrupt_ns: (500, 5_000),
        stolen_every_ns: 300_000,
        stolen_ns: (10_000, 50_000),
        ..Load::NONE
    }
}

/// Runs `body` on all CPUs, on a thread that is bound to each.
fn on_each<T: Send>(machine: &Multiprocessor, body: impl Fn(u32) -> T + Sync) -> Vec<T> {
    on_threads(machine, machine.cpus(), body)
}

/// Runs `body` on `count` threads, which are bound to one CPU after the other.
fn on_threads<T: Send>(machine: &Multiprocessor, count: u32, body: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let body = &body;
    let on = |number| -> Body<'_, T> {
        Box::new(move || {
            machine.bind(number % machine.cpus()).unwrap();
            body(number)
        })
    };
    let ended = machine.together((0..count).map(on).collect());
    ended.into_iter().map(|result| result.unwrap_or_else(|text| panic!("{text}\n{}", machine.trace()))).collect()
}

/// Values that two CPUs read, receive and lose while they exchange readings.
fn transcript(seed: u64) -> Vec<u64> {
    let machine = machine(2, seed);
    let clock = machine.add(SimulatedClock::new(0));
    machine.set_jitter(0.2);
    (0..2).for_each(|cpu| machine.set_load(cpu, heavy()));
    let words = [machine.word(0), machine.word(0)];
    let mut seen = on_each(&machine, |cpu| {
        let (inbox, outbox) = (&words[cpu as usize], &words[1 - cpu as usize]);
        let mut seen = Vec::new();
        for _ in 0..2_000 {
            seen.push(inbox.load());
            outbox.store(machine.read_counter(ReadCost::unordered(20_000, 5_000)));
            seen.push(machine.read_clock(clock, ReadCost::ordered(30_000)).unwrap());
        }
        seen
    })
    .concat();
    machine.sleep_ps(MS);
    seen.extend(machine.taken().iter().map(|lost| lost.taken.ps as u64));
    seen.push(machine.now_ps() as u64);
    seen
}

#[test]
fn the_seed_decides_also_beside_another_machine() {
    let alone = transcript(1);
    let beside: Vec<Vec<u64>> = std::thread::scope(|scope| {
        let threads = [1, 2, 1].map(|seed| scope.spawn(move || transcript(seed)));
        threads.map(|thread| thread.join().unwrap()).into()
    });
    assert!(beside[0] == alone && beside[2] == alone);
    assert!(beside[1] != alone);
    let taken = |seed| {
        let machine = machine(1, seed);
        machine.set_load(0, heavy());
        machine.work_ps(MS);
        machine.taken()
    };
    assert!(taken(1) == taken(1) && taken(1) != taken(2));
    const fn is_shared<T: Send + Sync>() {}
    const { is_shared::<Multiprocessor>() };
    const { is_shared::<Word>() };
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(40), ..ProptestConfig::default() })]

    /// True times that threads hand to each other never go back, whatever they lose.
    #[test]
    fn nothing_is_received_before_it_was_sent(
        seed in any::<u64>(),
        cpus in 1u32..=3,
        is_busy in any::<[bool; 3]>(),
        transit in 0u64..200_000,
        lookahead in 0u64..5_000_000,
    ) {
        let machine = machine(cpus, seed);
        machine.set_transit_ps(transit / 2, transit);
        machine.set_lookahead_ps(lookahead);
        (0..cpus).filter(|cpu| is_busy[*cpu as usize]).for_each(|cpu| machine.set_load(cpu, heavy()));
        let words = [0; 3].map(|_| machine.word(0));
        let received = on_threads(&machine, 3, |index| {
            let (mut received, mut last) = (0, 0);
            for turn in 0..500 {
                let word = &words[(index as usize + turn) % 3];
                let sent = word.load();
                let now = machine.now_ps() as u64;
                assert!(now >= sent, "thread {index} received {sent} at {now}\n{}", machine.trace());
                received += u32::from(sent != last);
                last = sent;
                machine.work_ps(20_000);
                words[index as usize].store(machine.now_ps() as u64);
            }
            received
        });
        prop_assert!(received.iter().all(|received| *received > 20), "{:?}", received);
    }

    /// A word that threads add to gives each of them a number of its own, in true time.
    #[test]
    fn tickets_are_in_order(seed in any::<u64>(), lookahead in 0u64..5_000_000) {
        let machine = machine(4, seed);
        machine.set_lookahead_ps(lookahead);
        let word = machine.word(0);
        let taken = on_each(&machine, |_| {
            let take = |_| {
                let ticket = word.fetch_add(1);
                let now = machine.now_ps();
                machine.work_ps(50_000);
                (ticket, now)
            };
            (0..200).map(take).collect::<Vec<_>>()
        });
        let mut taken = taken.concat();
        taken.sort_unstable();
        prop_assert!(taken.iter().zip(0..).all(|((ticket, _), expected)| *ticket == expected));
        let late = taken.windows(2).find(|pair| pair[1].1 < pair[0].1);
        prop_assert!(late.is_none(), "{:?}", late);
    }
}

/// The stores of a word take place one after the other, as do those of a thread, and a thread
/// that adds to a word has stored before.
#[test]
fn stores_keep_their_order() {
    let machine = machine(3, 4);
    machine.set_lookahead_ps(2 * US);
    let words = [machine.word(0), machine.word(0)];
    let last = std::sync::Mutex::new([0; 2]);
    on_each(&machine, |cpu| {
        let mut own_ps = 0;
        for turn in 0..2_000 {
            machine.work_ps(30_000 + 10_000 * u64::from(cpu));
            let index = turn / 3 % 2;
            if turn % 5 == 0 {
                words[index].fetch_add(1);
                assert!(machine.now_ps() >= own_ps, "turn {turn}");
                continue;
            }
            words[index].store(1);
            let stored_ps = words[index].stored_ps();
            let former_ps = std::mem::replace(&mut last.lock().unwrap()[index], stored_ps);
            assert!(stored_ps >= former_ps && stored_ps >= own_ps, "{stored_ps} {former_ps} {own_ps}");
            own_ps = stored_ps;
        }
    });
}

/// Readings of the counter that two CPUs hand off without waiting: how many are received, and
/// how many of them are ahead of the receiver's own.
fn received_handoffs(cost: ReadCost) -> (u32, u32) {
    let machine = machine(2, 3);
    machine.set_transit_ps(5_000, 10_000);
    let words = [machine.word(0), machine.word(0)];
    let received = on_each(&machine, |cpu| {
        let (inbox, outbox) = (&words[cpu as usize], &words[1 - cpu as usize]);
        let (mut received, mut regressions, mut last, mut former) = (0, 0, 0, 0);
        for _ in 0..5_000 {
            let sent = inbox.load();
            let own = machine.read_counter(cost);
            assert!(own >= last, "one thread's reads keep their order");
            received += u32::from(sent != former);
            regressions += u32::from(sent != former && own < sent);
            (last, former) = (own, sent);
            outbox.store(own);
        }
        (received, regressions)
    });
    (received[0].0 + received[1].0, received[0].1 + received[1].1)
}

#[test]
fn an_unordered_read_shows_between_cpus() {
    let (received, regressions) = received_handoffs(ReadCost::ordered(20_000));
    assert!(received > 300 && regressions == 0, "{received} {regressions}");
    let (received, regressions) = received_handoffs(ReadCost::unordered(20_000, 50_000));
    assert!(received > 300 && regressions > 10, "{received} {regressions}");
}

/// The store that ends a wait keeps reads behind it.
#[test]
fn an_unordered_read_stays_behind_a_wait() {
    let machine = machine(2, 5);
    let word = machine.word(0);
    on_each(&machine, |cpu| {
        for turn in 0..200 {
            machine.wait_until(|| word.load() % 2 == u64::from(cpu));
            let now = machine.now_ps();
            let read = machine.read_counter(ReadCost::unordered(20_000, 1_000_000));
            assert!(u128::from(read) + 1 >= now / 1024, "turn {turn}: {read} at {now}");
            word.fetch_add(1);
        }
    });
}

/// Nor does it get before a time that its thread lost.
#[test]
fn an_unordered_read_stays_behind_an_interruption() {
    let machine = machine(1, 6);
    machine.set_load(0, heavy());
    for _ in 0..1_000 {
        machine.work_ps(5 * US);
        let read = machine.read_counter(ReadCost::unordered(20_000, 20 * US));
        // The half of the read that comes after its value may lose time, too.
        let ended = machine.now_ps() - 10_000;
        let ends = machine.taken().into_iter().map(|lost| lost.taken.at_ps + lost.taken.ps);
        let last = ends.filter(|end| *end <= ended).max().unwrap_or(0);
        assert!(u128::from(read + 1) * 1024 > last, "{read} {last}");
    }
}

/// The tightest bounds that messages give contain the true offset, and are as narrow as the
/// transits are short.
#[test]
fn an_offset_between_cpus_shows_as_it_is() {
    let machine = machine(2, 7);
    machine.set_transit_ps(40_000, 100_000);
    machine.at(0, Change::SetCounterOffset { cpu: 1, ticks: 3_000 });
    let words = [machine.word(0), machine.word(0)];
    let stamps = on_each(&machine, |cpu| {
        let mut stamps = Vec::new();
        for turn in 1..=300 {
            let read = || machine.read_counter(ReadCost::ordered(20_000)) as i64;
            if cpu == 0 {
                stamps.push(read());
                words[0].store(turn);
                machine.wait_until(|| words[1].load() == turn);
                stamps.push(read());
            } else {
                machine.wait_until(|| words[0].load() == turn);
                stamps.push(read());
                words[1].store(turn);
            }
        }
        stamps
    });
    let turns = stamps[0].chunks(2).zip(&stamps[1]);
    let (mut least, mut most) = (i64::MIN, i64::MAX);
    for (request, answered) in turns {
        (least, most) = (least.max(answered - request[1]), most.min(answered - request[0]));
    }
    assert!(least <= 3_000 && 3_000 <= most, "{least} {most}");
    assert!((80..250).contains(&(most - least)), "{least} {most}: two transits of 40 ns and the reads' cost");
}

#[test]
fn accounts_agree_with_what_was_taken() {
    let machine = machine(2, 9);
    machine.set_load(1, heavy());
    machine.set_steal_step_ns(1);
    let clock = machine.add(SimulatedClock::new(0));
    let accounts = on_each(&machine, |cpu| {
        let mut lost_ps = 0;
        for _ in 0..20_000 {
            let before = machine.now_ps();
            let ns = u128::from(machine.read_clock(clock, ReadCost::ordered(1_000_000)).unwrap());
            assert!((before / 1000..=machine.now_ps() / 1000).contains(&ns));
            lost_ps += machine.now_ps() - before - 1_000_000;
        }
        (machine.account(), machine.cpu_account(cpu), lost_ps)
    });
    let taken = machine.taken();
    let of = |cpu: u32, by: Taker| taken.iter().filter(move |lost| lost.cpu == cpu && lost.taken.by == by);
    for (cpu, (thread, account, lost_ps)) in (0..).zip(accounts) {
        assert_eq!((thread.cpu, thread.voluntary), (cpu, 0));
        assert_eq!(thread.involuntary, of(cpu, Taker::Threads).count() as u64);
        assert_eq!(account.interrupts, of(cpu, Taker::Interrupt).count() as u64);
        let stolen_ps = of(cpu, Taker::Hypervisor).map(|lost| lost.taken.ps).sum::<u128>();
        assert_eq!(u128::from(account.steal_ns), stolen_ps / 1000);
        // What was lost while the thread was bound is not in it.
        let all_ps = taken.iter().filter(|lost| lost.cpu == cpu).map(|lost| lost.taken.ps).sum::<u128>();
        assert!(lost_ps <= all_ps && lost_ps + u128::from(MS) > all_ps, "{lost_ps} {all_ps}");
        let counts = [Taker::Threads, Taker::Interrupt, Taker::Hypervisor].map(|by| of(cpu, by).count());
        if cpu == 1 {
            assert!(counts[0] > 50 && counts[1] > 500 && counts[2] > 30, "{counts:?}");
        } else {
            assert_eq!(counts, [0; 3]);
        }
    }
    machine.set_steal_step_ns(10_000_000);
    let steps = machine.cpu_account(1).steal_ns;
    assert_eq!(steps % 10_000_000, 0);
}
