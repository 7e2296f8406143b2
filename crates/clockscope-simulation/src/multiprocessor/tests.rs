use super::*;

const US: u64 = 1_000_000;

fn machine(cpus: u32, seed: u64) -> Arc<Multiprocessor> {
    // A rate that has no rest: 1024 ps a count.
    Multiprocessor::new(Counter::new(1e12 / 1024.0, 0), cpus, seed)
}

#[test]
fn it_runs() {
    let machine = machine(2, 1);
    let word = machine.word(0);
    let results = machine.together(vec![
        Box::new(|| {
            machine.bind(0).unwrap();
            machine.work_ps(50 * US);
            word.store(5);
            machine.now_ps()
        }),
        Box::new(|| {
            machine.bind(1).unwrap();
            machine.wait_until(|| word.load() == 5);
            machine.now_ps()
        }),
    ]);
    let [Ok(sent), Ok(received)] = results[..] else { panic!("{results:?}") };
    assert!(received >= sent, "{}", machine.trace());
    println!("{}", machine.trace());
}
