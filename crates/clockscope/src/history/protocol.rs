//! The history's protocol under loom: a reader beside a writer that makes room.

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;

use super::fit::Step;
use super::piece::{Ahead, Piece};
use super::{History, Uncovered, process_mark};
use crate::disciplined::ClockOffset;
use crate::tick_length::TickLength;
use clockscope_core::WallState;

/// Ten counts from `start` on, which begin at `value` ns.
fn piece(start: u64, value: u64, ns_per_tick: f64) -> Piece {
    Piece {
        start,
        counts: 10,
        value,
        tick_length: TickLength::new(ns_per_tick),
        error_ns: 0,
        wall: ClockOffset::UNKNOWN,
        wall_error_ns: 0,
        bounds: Ahead::unbounded(WallState::Unavailable),
    }
}

fn push(history: &History<4>, piece: Piece) {
    history.keep(Step { push: Some(piece), ..Step::default() });
}

/// Two pieces in the older half may be joined into a third line when the next one needs their room.
/// A reader that converted a count by one of them before gets the same time after; and no reader
/// gets a mixture.
#[test]
fn a_count_that_was_converted_keeps_its_time() {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.max_branches = 100_000;
    builder.check(|| {
        let history = Arc::new(History::<4>::new());
        history.write(|| history.restart(process_mark()));
        for (start, value, rate) in [(0, 0, 1.0), (10, 10, 3.0), (20, 40, 1.0), (30, 50, 1.0)] {
            push(&history, piece(start, value, rate));
        }
        let writer = {
            let history = history.clone();
            thread::spawn(move || push(&history, piece(40, 60, 1.0)))
        };
        let time = |history: &History<4>| history.find(6).map(|piece| piece.time_of(6).expect("it is covered"));
        let first = time(&history);
        writer.join().unwrap();
        let second = time(&history);
        match (first, second) {
            // By the first piece, or by both that are one; or given up since.
            (Ok(first), Ok(second)) => assert_eq!(first, second),
            (Err(Uncovered::Busy), Ok(second)) => assert!(second == 6 || second == 11 || second == 12),
            // Its mark came in time, so that the piece was not joined, but given up.
            (_, Err(reason)) => assert_eq!(reason, Uncovered::Before),
            (Err(reason), Ok(_)) => panic!("{reason:?}, and not for good"),
        }
    });
}
