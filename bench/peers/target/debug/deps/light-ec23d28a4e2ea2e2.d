/work/main/bench/peers/target/debug/deps/light-ec23d28a4e2ea2e2.d: src/bin/light.rs

/work/main/bench/peers/target/debug/deps/liblight-ec23d28a4e2ea2e2.rmeta: src/bin/light.rs

src/bin/light.rs:
