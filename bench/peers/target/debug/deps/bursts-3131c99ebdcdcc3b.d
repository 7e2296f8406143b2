/work/main/bench/peers/target/debug/deps/bursts-3131c99ebdcdcc3b.d: src/bin/bursts.rs

/work/main/bench/peers/target/debug/deps/libbursts-3131c99ebdcdcc3b.rmeta: src/bin/bursts.rs

src/bin/bursts.rs:
