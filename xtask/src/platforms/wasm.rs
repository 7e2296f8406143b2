//! Hosts of WebAssembly: Node.js and wasmtime for WASI; Node.js and Chromium, in a page and in a
//! worker, for programs without a system.

use super::emulated::Emulated;

/// Against Debian's wasi-libc, which lacks the functions of threads: the runners have them.
const WASI_LIBC: &str = "-C link-self-contained=no -C link-arg=--allow-undefined -L /usr/lib/wasm32-wasi \
                         -C link-arg=/usr/lib/wasm32-wasi/crt1-command.o";

/// The others need threads.
const TESTS: &[&str] = &["--package", "clockscope", "--test", "platform"];
const CLOCKLESS: &[&str] = &["--package", "clockscope", "--test", "clockless"];

pub(super) const WASI: [Emulated; 2] = [
    Emulated {
        runner: &["node", "--no-warnings", "xtask/wasi/run.mjs"],
        needs: "wasm-ld-22 /usr/lib/wasm32-wasi/libc.a node",
        flags: WASI_LIBC,
        serves_the_systems_clock: true,
        ..JAVASCRIPT
    },
    Emulated {
        location: "in wasmtime",
        runner: &["python3", "xtask/wasi/run.py"],
        needs: "wasm-ld-22 /usr/lib/wasm32-wasi/libc.a wasmtime",
        flags: WASI_LIBC,
        serves_the_systems_clock: true,
        ..JAVASCRIPT
    },
];

const JAVASCRIPT: Emulated = Emulated {
    location: "in Node.js",
    runner: &["node", "xtask/browser/node.mjs"],
    linker: "wasm-ld-22",
    needs: "wasm-ld-22 node",
    tests: TESTS,
    flags: "",
    variables: &[],
    // std has none there that it could be compared with.
    serves_the_systems_clock: false,
    in_release_check: false,
};

pub(super) const WITHOUT_A_SYSTEM: [Emulated; 4] = [
    JAVASCRIPT,
    Emulated {
        location: "in a page and a worker of Chromium",
        runner: &["node", "xtask/browser/chromium.mjs"],
        needs: "wasm-ld-22 node chromium",
        ..JAVASCRIPT
    },
    Emulated {
        location: "in a host without performance.now()",
        runner: &["node", "xtask/browser/node.mjs", "--without-performance"],
        tests: CLOCKLESS,
        ..JAVASCRIPT
    },
    Emulated {
        location: "without JavaScript's clocks (no feature `js`)",
        tests: &["--package", "clockscope", "--test", "clockless", "--no-default-features", "--features", "std"],
        ..JAVASCRIPT
    },
];
