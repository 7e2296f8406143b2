/work/main/bench/peers/target/debug/deps/fastant-27ee9e0762f9d5e3.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/instant.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/tsc_now.rs

/work/main/bench/peers/target/debug/deps/libfastant-27ee9e0762f9d5e3.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/instant.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/tsc_now.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/lib.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/instant.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/fastant-0.1.11/src/tsc_now.rs:
