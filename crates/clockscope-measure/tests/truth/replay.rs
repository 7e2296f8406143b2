//! Recordings: the answer that is computed again is that of the run, and damage is an error.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clockscope_measure::{
    Amount, Catalog, MeasureError, Paths, RecordRequest, RecordingFault, Session, StepsRequest, TimerError, record,
    replay, steps,
};
use clockscope_records::{
    Document, Envelope, RecordedBatch, RecordedRun, Recording, Resolution, Steps, StepsRecord, TimerRate, Unit,
};
use clockscope_testing::simulation::{Change, Random, Refused};
use serde_json::Value;

use crate::harness::on_machines;
use crate::machine::{Machine, Maker, Spec, pick};
use crate::platform::{Signal, Simulated};

/// Time that the longest of these questions may take, in s: 20,000 reads of four clocks, beside one
/// that stands still.
const MAX_QUESTION_S: f64 = 3.0;

/// A random machine, with nothing wrong or a fault of one of its clocks.
fn machine(seed: u64) -> Machine {
    let mut random = Random::new(seed ^ 0x7e_91a7);
    let mut machine = Maker::varied(seed).make();
    let ids: Vec<_> = machine.specs.iter().filter_map(|spec| spec.id).collect();
    let clock = pick(&mut random, &ids);
    let at_ms = 10.0 * random.fraction();
    match random.below(8) {
        0 => machine.at_ms(at_ms, Change::FreezeClock { clock }),
        1 => machine.at_ms(at_ms, Change::RefuseClock { clock, refused: Some(Refused(1)) }),
        2 => machine.at_ms(0.0, Change::RefuseClock { clock, refused: Some(Refused(38)) }),
        3 => machine.at_ms(at_ms, Change::StepClock { clock, ns: 5_000_000 - random.below(10_000_000) as i64 }),
        4 => machine.at_ms(at_ms, Change::SlewClock { clock, share: -1.0 }),
        5 => machine.at_ms(at_ms, Change::StepCounter { ticks: 50_000_000 - random.below(100_000_000) as i64 }),
        6 => machine.at_ms(at_ms, Change::SetCounterRate { hz: 0.0 }),
        _ => {}
    }
    machine
}

/// Question to a machine: up to four of its clocks, and the number of reads of each.
fn request(machine: &Machine, seed: u64) -> (Vec<String>, RecordRequest) {
    let mut random = Random::new(seed);
    let all: Vec<String> = machine.specs.iter().map(Spec::label).collect();
    let names = (0..random.between(1, 5)).map(|_| all[random.below(all.len() as u64) as usize].clone()).collect();
    let reads = random.between(2, 20_000);
    // Which CPU does not matter, but it has to be there, and threads must be bound to it.
    let cpu = random.happens(0.5).then_some(machine.cpus.cpus() - 1).filter(|_| machine.facts.can_bind);
    (names, RecordRequest { reads, cpu })
}

/// Asks a machine of this seed, and records it. Nothing can be asked where no clock moves.
fn recorded(seed: u64) -> Result<(Envelope<Steps>, Recording), MeasureError> {
    recorded_until(seed, u128::MAX)
}

/// Asks a machine of this seed, and records it, until it is interrupted at this true time in ps.
fn recorded_until(seed: u64, at_ps: u128) -> Result<(Envelope<Steps>, Recording), MeasureError> {
    let signal = Arc::new(Signal { at_ps, stop: AtomicBool::new(at_ps == 0) });
    let mut platform = Simulated::within(machine(seed), MAX_QUESTION_S);
    platform.signal = Some(Arc::clone(&signal));
    answered(&Session::new(&platform, &signal.stop), seed)
}

/// Asks a machine of this seed, and records it.
fn answered(session: &Session<'_, Simulated>, seed: u64) -> Result<(Envelope<Steps>, Recording), MeasureError> {
    let (names, request) = request(&session.platform().machine, seed);
    let catalog = Catalog::new(session.platform()).select(&names, Paths::Libc).expect("they are there");
    record(session, catalog, request, &mut |_| {}).map(|(answer, run)| (answer, Recording::new(run)))
}

/// Checks that the only clock stands still, which is the one reason not to answer.
fn assert_frozen(error: &MeasureError) {
    assert!(matches!(error, MeasureError::Timer(TimerError::ReferenceFrozen(_))), "{error}");
}

fn written(recording: &Recording) -> String {
    serde_json::to_string(recording).expect("it can be written")
}

/// Reads a recording and computes its answer.
fn replayed(text: &str) -> Result<Envelope<Steps>, String> {
    let recording = Recording::from_json(text.as_bytes()).map_err(|error| error.to_string())?;
    replay(recording).map_err(|error| error.to_string())
}

/// The documents are the same to the last byte.
fn assert_same(answer: &Envelope<Steps>, again: Result<Envelope<Steps>, String>) {
    let again = again.expect("it was just recorded");
    assert_eq!(again, *answer);
    let text =
        |answer: &Envelope<Steps>| serde_json::to_string(&Document::Steps(answer.clone())).expect("it can be written");
    assert_eq!(text(&again), text(answer));
}

/// From a file, on whatever machine.
#[test]
fn a_recording_gives_the_answer_again() {
    let make = |seed| Simulated::within(machine(seed), MAX_QUESTION_S);
    on_machines("replay::a_recording_gives", make, |session, seed| match answered(session, seed) {
        Ok((answer, recording)) => assert_same(&answer, replayed(&written(&recording))),
        Err(error) => assert_frozen(&error),
    });
}

/// A recording changes nothing in the reads that fit into one batch.
#[test]
fn a_recorded_run_gives_the_answer_of_any_other() {
    const ONE_BATCH: u64 = 1024;
    let make = |seed| Simulated::within(machine(seed), MAX_QUESTION_S);
    on_machines("replay::a_recorded_run_gives", make, |session, seed| {
        let (names, RecordRequest { reads, cpu }) = request(&session.platform().machine, seed);
        let reads = reads.min(ONE_BATCH);
        let unrecorded = make(seed);
        let stop = AtomicBool::new(false);
        let unrecorded = Session::new(&unrecorded, &stop);
        let catalog = |session: &Session<'_, Simulated>| {
            Catalog::new(session.platform()).select(&names, Paths::Libc).expect("they are there")
        };
        let recorded = record(session, catalog(session), RecordRequest { reads, cpu }, &mut |_| {});
        let request = StepsRequest { amount: Amount::Reads(reads), cpu };
        match (recorded, steps(&unrecorded, catalog(&unrecorded), &request, &mut |_| {})) {
            (Ok((answer, _)), Ok(unrecorded)) => assert_eq!(answer, unrecorded, "the recording changed the answer"),
            (Err(recorded), Err(unrecorded)) => [recorded, unrecorded].iter().for_each(assert_frozen),
            (recorded, unrecorded) => panic!("one of both answers: {recorded:?} {unrecorded:?}"),
        }
    });
}

fn has_readings(clock: &StepsRecord) -> bool {
    clock.events.as_ref().is_some_and(|events| events.reads > 0)
}

/// Wherever a run is interrupted: before it begins, within a batch, between two clocks.
#[test]
fn an_interrupted_run_is_recorded_as_well() {
    let (mut interrupted, mut begun) = (0, 0);
    for (seed, at_us) in (0..40).zip([0, 100, 1000, 4000, 8000, 12_000, 16_000, 30_000].into_iter().cycle()) {
        match recorded_until(seed, at_us * 1_000_000) {
            Ok((answer, recording)) => {
                interrupted += u32::from(answer.is_interrupted());
                begun += u32::from(answer.is_interrupted() && answer.found.clocks.iter().any(has_readings));
                assert_same(&answer, replayed(&written(&recording)));
            }
            Err(error) => assert_frozen(&error),
        }
    }
    assert!(begun > 3 && interrupted > begun + 3, "{interrupted} were interrupted, {begun} within a batch");
}

/// A run of which everything was recorded that can be: a counter, readings, errors.
fn whole() -> Recording {
    let is_long = |batch: &RecordedBatch| batch.readings.len() > 9;
    let is_whole = |run: &RecordedRun| {
        run.timer.is_counter && run.clocks.len() > 1 && run.clocks.iter().all(|clock| clock.batches.iter().any(is_long))
    };
    let mut recordings = (0..).filter_map(|seed| recorded(seed).ok()).map(|(_, recording)| recording);
    let Recording { mut recorded, .. } =
        recordings.find(|recording| is_whole(&recording.recorded)).expect("some machine is");
    recorded.environment.program.version = env!("CARGO_PKG_VERSION").to_owned();
    Recording::new(recorded)
}

#[test]
fn a_damaged_file_is_an_error() {
    let text = written(&whole());
    for part in 1..200 {
        let cut = &text[..text.len() * part / 200];
        assert!(replayed(cut).is_err(), "cut off after {} bytes", cut.len());
    }
    let mut random = Random::new(7);
    for _ in 0..200 {
        let mut bytes = text.clone().into_bytes();
        let index = random.below(bytes.len() as u64) as usize;
        if bytes[index].is_ascii_digit() {
            bytes[index] = b'0' + (bytes[index] - b'0' + random.between(1, 10) as u8) % 10;
            let changed = String::from_utf8(bytes).expect("digits");
            let said = replayed(&changed).expect_err("another digit");
            let is_known = ["damaged", "schema_version", "not a clockscope record", "not a recording"];
            assert!(is_known.iter().any(|known| said.contains(known)), "{said}");
        }
    }
    for (from, to, expected) in [
        ("clockscope.recording", "clockscope.steps", "show documents with `clockscope report`"),
        ("\"schema_version\":1", "\"schema_version\":2", "schema_version 2"),
        ("{\"schema\"", "clock,ns\n{\"schema\"", "--raw FILE.json"),
        ("\"recorded\":", "\"lost\":", "the record is damaged: missing key `recorded`"),
    ] {
        let said = replayed(&text.replacen(from, to, 1)).expect_err(expected);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_recording_with_unknown_words_is_refused() {
    let text = written(&whole());
    for (key, word) in [("kind", "sundial"), ("path", "window"), ("basis", "sun")] {
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        value["recorded"]["clocks"][0]["identity"][key] = word.into();
        let refused = replayed(&value.to_string()).expect_err(key);
        assert!(refused.contains("the record is damaged: recorded.clocks[0].identity"), "{refused}");
    }
}

/// A thread that lost its CPU while readings were looked at has a gap more.
#[test]
fn a_pause_after_the_batch_is_a_gap_in_the_replay_too() {
    let gaps = |whole: Recording| replay(whole).expect("whole").found.clocks[0].events.as_ref().unwrap().gap.get();
    let mut whole = whole();
    let before = gaps(whole.clone());
    let second = (1e9 / whole.recorded.timer.first_rate.ns_per_unit) as u64;
    for batch in &mut whole.recorded.clocks[0].batches {
        batch.processed_at = batch.timer[1].wrapping_add(second);
    }
    assert_eq!(gaps(Recording::new(whole.recorded)), before.map(|gaps| gaps + 1));
}

/// As nobody writes it, with a checksum that fits.
#[test]
fn what_no_run_gives_is_an_error() {
    type Change = fn(&mut RecordedRun);
    let changes: [(&str, Change); 9] = [
        ("more clocks", |run| run.clocks = vec![run.clocks[0].clone(); 1001]),
        ("a batch of nothing", |run| run.clocks[0].batches[0].readings.clear()),
        ("a long resolution", |run| run.clocks[0].resolution = Resolution::Nanoseconds(1e13)),
        ("a step back", |run| run.timer.tick_ns = -1.0),
        ("a reference's step back", |run| run.timer.reference_tick_ns = -1.0),
        ("no frequency", |run| run.clocks[0].unit = Unit::Counts(Some(0.0))),
        ("a timer that goes back", |run| run.timer.first_rate.ns_per_unit = -1.0),
        ("a timer that stands still", |run| run.timer.mean_rate = Some(TimerRate { ns_per_unit: 0.0, bound_ppm: 1.0 })),
        ("a bound below zero", |run| run.timer.first_rate.bound_ppm = -1.0),
    ];
    let whole = whole();
    assert!(replay(whole.clone()).is_ok());
    for (what, change) in changes {
        let mut run = whole.recorded.clone();
        change(&mut run);
        let refused = replay(Recording::new(run)).expect_err(what);
        assert_ne!(refused.fault, RecordingFault::Checksum, "{what}: {refused}");
        assert!(refused.to_string().contains("get an undamaged copy"), "{refused}");
    }
}

/// The program that recorded it may have known other keys.
#[test]
fn a_damaged_recording_of_another_version_names_that_version() {
    let mut recording = whole();
    recording.recorded.environment.program.version = "0.0.1".to_owned();
    let said = replay(recording).expect_err("its checksum is that of this version").to_string();
    assert!(said.contains("its checksum is another one: report it with clockscope 0.0.1"), "{said}");
}

/// The numbers in a value, each as its place.
fn numbers(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Number(_) => vec![value],
        Value::Array(values) => values.iter_mut().flat_map(numbers).collect(),
        Value::Object(values) => values.iter_mut().flat_map(|(_, value)| numbers(value)).collect(),
        _ => Vec::new(),
    }
}

/// Whatever the numbers are, and with a checksum that fits.
#[test]
fn no_numbers_make_it_panic_or_wait() {
    let mut whole = whole();
    // Few readings, so that other numbers are changed as well.
    for batch in whole.recorded.clocks.iter_mut().flat_map(|clock| &mut clock.batches) {
        batch.readings.truncate(20);
    }
    let extremes = ["0", "1", "-1", "1e300", "1e-300", "1e12", "9223372036854775807", "-9223372036854775808"];
    let (mut random, text) = (Random::new(11), written(&whole));
    for _ in 0..2000 {
        let mut value: Value = serde_json::from_str(&text).expect("JSON");
        let mut values = numbers(&mut value);
        for _ in 0..random.between(1, 4) {
            let (index, extreme) = (random.below(values.len() as u64) as usize, pick(&mut random, &extremes));
            *values[index] = serde_json::from_str(extreme).expect("a number");
        }
        if let Ok(recording) = Recording::from_json(value.to_string().as_bytes()) {
            let _ = replay(Recording::new(recording.recorded));
        }
    }
}

/// A recording that is kept gives the answer that it gave when it was made. Another one shows that
/// something is computed otherwise: if that is meant, `CLOCKSCOPE_KEEP=answer` keeps it. Where a
/// recording has other keys, `CLOCKSCOPE_KEEP=recording` keeps both anew.
#[test]
fn a_saved_recording_gives_its_saved_answer() {
    let fixture = |name| format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let (recording, expected) = (fixture("recording"), fixture("recording-answer"));
    if std::env::var_os("CLOCKSCOPE_KEEP").is_some_and(|what| what == "recording") {
        std::fs::write(&recording, written(&whole())).expect("it can be kept");
    }
    let text = std::fs::read_to_string(recording).expect("it is there");
    let answer = Document::Steps(replayed(&text).expect("it can be replayed"));
    let answer = format!("{:#}\n", serde_json::to_value(&answer).expect("it can be written"));
    if std::env::var_os("CLOCKSCOPE_KEEP").is_some() {
        std::fs::write(&expected, &answer).expect("it can be kept");
    }
    let expected = std::fs::read_to_string(expected).expect("it is there");
    let same = answer.lines().zip(expected.lines()).position(|(line, expected)| line != expected);
    assert!(answer == expected, "line {:?} differs from the kept one: {answer}", same.map(|line| line + 1));
}
