/work/main/bench/peers/target/debug/deps/os_clock-37d89cdc5f551f7f.d: src/bin/os_clock.rs

/work/main/bench/peers/target/debug/deps/libos_clock-37d89cdc5f551f7f.rmeta: src/bin/os_clock.rs

src/bin/os_clock.rs:
