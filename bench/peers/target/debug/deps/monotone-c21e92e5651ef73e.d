/work/main/bench/peers/target/debug/deps/monotone-c21e92e5651ef73e.d: src/bin/monotone.rs

/work/main/bench/peers/target/debug/deps/libmonotone-c21e92e5651ef73e.rmeta: src/bin/monotone.rs

src/bin/monotone.rs:
