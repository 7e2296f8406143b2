//! Hosts of WebAssembly: Node.js and wasmtime for WASI; Node.js and Chromium, in a page and in a
//! worker, for programs without a system.

use super::emulated::Emulated;
use crate::needs::Need;

/// Against Debian's wasi-libc, which lacks the functions of threads: the runners have them.
const WASI_LIBC: &str = "-C link-self-contained=no -C link-arg=--allow-undefined -L /usr/lib/wasm32-wasi \
                         -C link-arg=/usr/lib/wasm32-wasi/crt1-command.o";

const LINKER: &str = "wasm-ld-22";
const LLD: Need = Need::program(LINKER, "lld-22");
const LIBC: Need = Need::file("/usr/lib/wasm32-wasi/libc.a", "wasi-libc");
const NODE: Need = Need::program("node", "nodejs");

/// The others need threads.
const TESTS: &[&str] = &["--package", "clockscope", "--test", "platform"];
const CLOCKLESS: &[&str] = &["--package", "clockscope", "--test", "clockless"];

pub(super) const WASI: [Emulated; 2] = [
    Emulated {
        location: "in Node.js",
        runner: &["node", "--no-warnings", "xtask/wasi/run.mjs"],
        linker: LINKER,
        needs: &[LLD, LIBC, NODE],
        tests: TESTS,
        flags: WASI_LIBC,
        variables: &[],
        serves_the_systems_clock: true,
        in_release_check: false,
    },
    Emulated {
        location: "in wasmtime",
        runner: &["python3", "xtask/wasi/run.py"],
        linker: LINKER,
        needs: &[LLD, LIBC, Need::python_module("wasmtime", "wasmtime")],
        tests: TESTS,
        flags: WASI_LIBC,
        variables: &[],
        serves_the_systems_clock: true,
        in_release_check: false,
    },
];

const JAVASCRIPT: Emulated = Emulated {
    location: "in Node.js",
    runner: &["node", "xtask/browser/node.mjs"],
    linker: LINKER,
    needs: &[LLD, NODE],
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
        needs: &[LLD, NODE, Need::program("chromium", "chromium")],
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
