/work/main/bench/peers/target/debug/deps/first-b5685b9726adb58f.d: src/bin/first.rs

/work/main/bench/peers/target/debug/deps/libfirst-b5685b9726adb58f.rmeta: src/bin/first.rs

src/bin/first.rs:
