//! Tests of the instrument's answers on random machines whose truth is known (README.md
//! beside this file).
//!
//! Each test asks one question of many machines. One that fails prints the machine, what it did,
//! and the command that repeats it. `CLOCKSCOPE_MACHINES` says how many machines are asked: a few
//! if it is not set, with `full` as many as README.md lists. `CLOCKSCOPE_SEED` picks one.

mod across;
mod after_work;
mod census;
mod check;
mod check_coarse;
mod check_cpu_time;
mod check_faults;
mod events;
mod gaps;
mod gaps_failing;
mod harness;
mod machine;
mod measure;
mod names;
mod offsets;
mod order;
mod platform;
mod rate;
mod rate_compared;
mod rate_errors;
mod rate_truth;
mod replay;
mod shootout;
mod sleep;
mod steps;
mod ticks;
mod varied;
mod windows;
