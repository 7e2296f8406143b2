/work/main/bench/peers/target/debug/deps/stamps-dba7fc4fd1eabd19.d: src/bin/stamps.rs

/work/main/bench/peers/target/debug/deps/libstamps-dba7fc4fd1eabd19.rmeta: src/bin/stamps.rs

src/bin/stamps.rs:
