/work/main/bench/peers/target/debug/deps/clockscope_core-44a5201d3d15ba77.d: /work/main/crates/clockscope-core/src/lib.rs /work/main/crates/clockscope-core/src/atomic.rs /work/main/crates/clockscope-core/src/brackets.rs /work/main/crates/clockscope-core/src/brackets/bracket.rs /work/main/crates/clockscope-core/src/brackets/offset.rs /work/main/crates/clockscope-core/src/brackets/rate.rs /work/main/crates/clockscope-core/src/chrony.rs /work/main/crates/clockscope-core/src/civil.rs /work/main/crates/clockscope-core/src/civil_state.rs /work/main/crates/clockscope-core/src/clock.rs /work/main/crates/clockscope-core/src/clocksource.rs /work/main/crates/clockscope-core/src/counter.rs /work/main/crates/clockscope-core/src/counter/x86.rs /work/main/crates/clockscope-core/src/counter/memory_order.rs /work/main/crates/clockscope-core/src/counter/nominal.rs /work/main/crates/clockscope-core/src/error.rs /work/main/crates/clockscope-core/src/evidence.rs /work/main/crates/clockscope-core/src/os.rs /work/main/crates/clockscope-core/src/os/linux/backend.rs /work/main/crates/clockscope-core/src/os/linux/affinity.rs /work/main/crates/clockscope-core/src/os/linux/civil.rs /work/main/crates/clockscope-core/src/os/linux/clock_set.rs /work/main/crates/clockscope-core/src/os/linux/elf.rs /work/main/crates/clockscope-core/src/os/linux/../unix/errno.rs /work/main/crates/clockscope-core/src/os/linux/../unix/fork.rs /work/main/crates/clockscope-core/src/os/linux/mapped_page.rs /work/main/crates/clockscope-core/src/os/linux/perf.rs /work/main/crates/clockscope-core/src/os/linux/permission.rs /work/main/crates/clockscope-core/src/os/linux/posix.rs /work/main/crates/clockscope-core/src/os/linux/syscall.rs /work/main/crates/clockscope-core/src/os/linux/timeline.rs /work/main/crates/clockscope-core/src/os/linux/trap.rs /work/main/crates/clockscope-core/src/os/linux/vdso.rs /work/main/crates/clockscope-core/src/os/linux/vmclock.rs /work/main/crates/clockscope-core/src/os/linux/wiping.rs /work/main/crates/clockscope-core/src/os/process.rs /work/main/crates/clockscope-core/src/pause.rs /work/main/crates/clockscope-core/src/wakeup.rs

/work/main/bench/peers/target/debug/deps/libclockscope_core-44a5201d3d15ba77.rmeta: /work/main/crates/clockscope-core/src/lib.rs /work/main/crates/clockscope-core/src/atomic.rs /work/main/crates/clockscope-core/src/brackets.rs /work/main/crates/clockscope-core/src/brackets/bracket.rs /work/main/crates/clockscope-core/src/brackets/offset.rs /work/main/crates/clockscope-core/src/brackets/rate.rs /work/main/crates/clockscope-core/src/chrony.rs /work/main/crates/clockscope-core/src/civil.rs /work/main/crates/clockscope-core/src/civil_state.rs /work/main/crates/clockscope-core/src/clock.rs /work/main/crates/clockscope-core/src/clocksource.rs /work/main/crates/clockscope-core/src/counter.rs /work/main/crates/clockscope-core/src/counter/x86.rs /work/main/crates/clockscope-core/src/counter/memory_order.rs /work/main/crates/clockscope-core/src/counter/nominal.rs /work/main/crates/clockscope-core/src/error.rs /work/main/crates/clockscope-core/src/evidence.rs /work/main/crates/clockscope-core/src/os.rs /work/main/crates/clockscope-core/src/os/linux/backend.rs /work/main/crates/clockscope-core/src/os/linux/affinity.rs /work/main/crates/clockscope-core/src/os/linux/civil.rs /work/main/crates/clockscope-core/src/os/linux/clock_set.rs /work/main/crates/clockscope-core/src/os/linux/elf.rs /work/main/crates/clockscope-core/src/os/linux/../unix/errno.rs /work/main/crates/clockscope-core/src/os/linux/../unix/fork.rs /work/main/crates/clockscope-core/src/os/linux/mapped_page.rs /work/main/crates/clockscope-core/src/os/linux/perf.rs /work/main/crates/clockscope-core/src/os/linux/permission.rs /work/main/crates/clockscope-core/src/os/linux/posix.rs /work/main/crates/clockscope-core/src/os/linux/syscall.rs /work/main/crates/clockscope-core/src/os/linux/timeline.rs /work/main/crates/clockscope-core/src/os/linux/trap.rs /work/main/crates/clockscope-core/src/os/linux/vdso.rs /work/main/crates/clockscope-core/src/os/linux/vmclock.rs /work/main/crates/clockscope-core/src/os/linux/wiping.rs /work/main/crates/clockscope-core/src/os/process.rs /work/main/crates/clockscope-core/src/pause.rs /work/main/crates/clockscope-core/src/wakeup.rs

/work/main/crates/clockscope-core/src/lib.rs:
/work/main/crates/clockscope-core/src/atomic.rs:
/work/main/crates/clockscope-core/src/brackets.rs:
/work/main/crates/clockscope-core/src/brackets/bracket.rs:
/work/main/crates/clockscope-core/src/brackets/offset.rs:
/work/main/crates/clockscope-core/src/brackets/rate.rs:
/work/main/crates/clockscope-core/src/chrony.rs:
/work/main/crates/clockscope-core/src/civil.rs:
/work/main/crates/clockscope-core/src/civil_state.rs:
/work/main/crates/clockscope-core/src/clock.rs:
/work/main/crates/clockscope-core/src/clocksource.rs:
/work/main/crates/clockscope-core/src/counter.rs:
/work/main/crates/clockscope-core/src/counter/x86.rs:
/work/main/crates/clockscope-core/src/counter/memory_order.rs:
/work/main/crates/clockscope-core/src/counter/nominal.rs:
/work/main/crates/clockscope-core/src/error.rs:
/work/main/crates/clockscope-core/src/evidence.rs:
/work/main/crates/clockscope-core/src/os.rs:
/work/main/crates/clockscope-core/src/os/linux/backend.rs:
/work/main/crates/clockscope-core/src/os/linux/affinity.rs:
/work/main/crates/clockscope-core/src/os/linux/civil.rs:
/work/main/crates/clockscope-core/src/os/linux/clock_set.rs:
/work/main/crates/clockscope-core/src/os/linux/elf.rs:
/work/main/crates/clockscope-core/src/os/linux/../unix/errno.rs:
/work/main/crates/clockscope-core/src/os/linux/../unix/fork.rs:
/work/main/crates/clockscope-core/src/os/linux/mapped_page.rs:
/work/main/crates/clockscope-core/src/os/linux/perf.rs:
/work/main/crates/clockscope-core/src/os/linux/permission.rs:
/work/main/crates/clockscope-core/src/os/linux/posix.rs:
/work/main/crates/clockscope-core/src/os/linux/syscall.rs:
/work/main/crates/clockscope-core/src/os/linux/timeline.rs:
/work/main/crates/clockscope-core/src/os/linux/trap.rs:
/work/main/crates/clockscope-core/src/os/linux/vdso.rs:
/work/main/crates/clockscope-core/src/os/linux/vmclock.rs:
/work/main/crates/clockscope-core/src/os/linux/wiping.rs:
/work/main/crates/clockscope-core/src/os/process.rs:
/work/main/crates/clockscope-core/src/pause.rs:
/work/main/crates/clockscope-core/src/wakeup.rs:
