/work/main/bench/peers/target/debug/deps/web_time-9509e32650af81eb.d: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/web-time-1.1.0/src/lib.rs

/work/main/bench/peers/target/debug/deps/libweb_time-9509e32650af81eb.rmeta: /root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/web-time-1.1.0/src/lib.rs

/root/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/web-time-1.1.0/src/lib.rs:
