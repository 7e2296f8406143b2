/work/main/bench/peers/target/debug/deps/small_ctor-019c896ea53bd045.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/small_ctor-0.1.2/src/lib.rs

/work/main/bench/peers/target/debug/deps/libsmall_ctor-019c896ea53bd045.so: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/small_ctor-0.1.2/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/small_ctor-0.1.2/src/lib.rs:
