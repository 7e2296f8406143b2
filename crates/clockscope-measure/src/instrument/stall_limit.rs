//! Number of reads of a clock that works before it moves. Turns are what can be counted where no
//! clock advances any more.

/// Time after which a timer that shows the same stands still, in ns: twice a timer tick of 100 Hz,
/// which is the longest step of a timer.
const MAX_STEP_NS: f64 = 20e6;
/// The least that a turn takes, in ns.
const MIN_TURN_NS: f64 = 20.0;
/// The least that a turn takes of a timer whose steps are too long to be seen, in ns: it is read by
/// a system call.
const MIN_CALL_NS: f64 = 100.0;

/// Returns in how many turns a timer that works moves, if a turn was seen to take `loop_ns`, and if
/// the timer was seen to move by `step_ns` before. Turns are what can be counted where it stands
/// still: the thread may lose its CPU for any time between two of them.
pub(crate) fn turns(loop_ns: f64, step_ns: Option<f64>) -> u32 {
    let turns = match step_ns {
        _ if loop_ns > 0.0 => MAX_STEP_NS / loop_ns.max(MIN_TURN_NS),
        // It has moved, but no longer does.
        Some(step_ns) => 2.0 * step_ns / MIN_TURN_NS,
        None => MAX_STEP_NS / MIN_CALL_NS,
    };
    turns.ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A timer of 1.1 µs a read that stopped before a turn was timed was read a million times.
    #[test]
    fn turns_are_as_many_as_a_timers_step_takes() {
        assert_eq!(turns(25.0, Some(1.0)), 800_000);
        assert_eq!(turns(1100.0, Some(280.0)), 18_182);
        assert_eq!(turns(0.0, Some(280.0)), 28);
        // jiffies, of which a step was seen or not: at 100 ns a turn, more than 10 ms.
        assert_eq!((turns(0.0, Some(10e6)), turns(0.0, None)), (1_000_000, 200_000));
    }
}
