/work/main/bench/peers/target/debug/deps/start-a87f59c1b620af4b.d: src/bin/start.rs

/work/main/bench/peers/target/debug/deps/libstart-a87f59c1b620af4b.rmeta: src/bin/start.rs

src/bin/start.rs:
