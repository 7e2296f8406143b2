/work/main/bench/peers/target/debug/deps/slew-9f6bafd80b754ec8.d: src/bin/slew.rs

/work/main/bench/peers/target/debug/deps/libslew-9f6bafd80b754ec8.rmeta: src/bin/slew.rs

src/bin/slew.rs:
