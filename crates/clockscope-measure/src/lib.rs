//! Answers the questions of clockscope about clocks, one module each. The answers are records.
//!
//! This crate renders nothing and prints nothing. While a batch is being sampled nothing draws,
//! allocates or locks. Nothing here reads time through the C library except the clocks that are
//! being measured.

mod across;
mod advise;
mod bench;
mod bracket;
mod catalog;
mod clock_step;
mod clocksources;
mod compare;
mod context;
mod cost;
mod default_clocks;
mod distribution;
mod error;
mod extended;
mod facts;
mod failure_reason;
mod gaps;
mod handoff;
mod measured_clock;
mod missing_clock;
mod pair;
mod platform;
mod rate;
mod record;
mod recording;
mod repeat;
mod sampler;
mod session;
mod shootout;
mod sleep;
mod stall_limit;
mod step;
mod steps;
mod tick_record;
mod timer;
mod trust;

pub use across::offsets::{OffsetsRequest, offsets};
pub use across::order::{Handoff, OrderRequest, order};
pub use advise::{AdviceInput, advise};
pub use bench::Progress;
pub use catalog::{Catalog, Paths, UnknownClock};
pub use clocksources::{PerClocksource, SwitchedRequest, clocksources, switched, warning, with_each_clocksource};
pub use compare::{
    CompareError, CompareRequest, ComparedQuestion, ComparedRecord, MISRATE, MachineDifference, comparable, compare,
};
pub use cost::{MeasureRequest, measure};
pub use error::{Contradiction, Meaningless, MeasureError, PolicyError};
pub use facts::{all_clocks, info, list};
pub use gaps::{GapsRequest, gaps};
pub use missing_clock::{MissingClock, known_clocksource, missing_clock};
pub use platform::{
    Clocks, Facts, Platform, ReferenceClock, SharedWord, SleepingCalls, Sleeps, ThisMachine, ThreadError, Threads,
    steering,
};
pub use rate::{Live, RateRequest, rate};
pub use recording::{RecordRequest, RecordingFault, ReplayError, record, replay};
pub use repeat::{FEWEST_RUNS, between_runs};
pub use session::Session;
pub use shootout::{ShootoutRequest, shootout};
pub use sleep::{SleepRequest, sleep};
pub use steps::{Amount, StepsRequest, steps};
pub use timer::TimerError;
pub use trust::{CheckRequest, accepted, check};
