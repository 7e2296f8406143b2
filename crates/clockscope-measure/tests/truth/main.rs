//! What the instrument says of random machines whose truth is known (docs/method.md, "How these figures are checked").
//!
//! Each test asks one question of many machines. One that fails prints the machine, what it did, and the command that
//! repeats it. `CLOCKSCOPE_MACHINES` says how many machines are asked; `CLOCKSCOPE_SEED` picks one.

mod harness;
mod machine;
mod measure;
mod platform;
mod replay;
mod steps;
mod ticks;
