/work/main/bench/peers/target/debug/deps/cold-e2b7b26624009e3e.d: src/bin/cold.rs

/work/main/bench/peers/target/debug/deps/libcold-e2b7b26624009e3e.rmeta: src/bin/cold.rs

src/bin/cold.rs:
