/work/main/bench/peers/target/debug/deps/ctor-6f3c79778b90f096.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/ctor-0.1.26/src/lib.rs

/work/main/bench/peers/target/debug/deps/libctor-6f3c79778b90f096.so: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/ctor-0.1.26/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/ctor-0.1.26/src/lib.rs:
