/work/main/bench/peers/target/debug/deps/wall-aa27ee95cc432bb2.d: src/bin/wall.rs

/work/main/bench/peers/target/debug/deps/libwall-aa27ee95cc432bb2.rmeta: src/bin/wall.rs

src/bin/wall.rs:
