/work/main/bench/peers/target/debug/deps/minstant-f2b2b541cf5f292f.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/instant.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/tsc_now.rs

/work/main/bench/peers/target/debug/deps/libminstant-f2b2b541cf5f292f.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/lib.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/instant.rs /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/tsc_now.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/lib.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/instant.rs:
/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/minstant-0.1.7/src/tsc_now.rs:
