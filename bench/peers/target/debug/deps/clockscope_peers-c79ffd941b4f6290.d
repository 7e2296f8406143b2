/work/main/bench/peers/target/debug/deps/clockscope_peers-c79ffd941b4f6290.d: src/lib.rs

/work/main/bench/peers/target/debug/deps/libclockscope_peers-c79ffd941b4f6290.rmeta: src/lib.rs

src/lib.rs:
