/work/main/bench/peers/target/debug/deps/drift-05001d383a298cf9.d: src/bin/drift.rs

/work/main/bench/peers/target/debug/deps/libdrift-05001d383a298cf9.rmeta: src/bin/drift.rs

src/bin/drift.rs:
