// Runs a test program of Rust for wasm32-unknown-unknown: in a page, in a worker and in Node.js.
//
// Rust's test harness prints nothing there. `main` returns 0, or a test that fails traps; the names
// of the functions in the trap's stack include that of the test.

// wasm-bindgen's command would generate these functions from the program. They are few, and their
// names are in the program, each with a hash behind it. An unknown one is an error.
const UNDEFINED = 1024;
// The first number behind those of undefined, null, true and false.
const RESERVED = 1028;
const FIRST_OBJECT = 2048;

// The test's own function is between those that panic and the harness, in Rust's mangled names.
Error.stackTraceLimit = 50;
const PANIC = /_3std|___rustc|_4core9panicking/;
const HARNESS = /_4test/;

class Objects {
  #objects = new Map();
  #next = FIRST_OBJECT;

  // 0 is Rust's `None`.
  keep(object) {
    if (object === undefined || object === null) return 0;
    this.#objects.set(this.#next, object);
    return this.#next++;
  }

  get(number) {
    if (number === UNDEFINED) return undefined;
    if (!this.#objects.has(number)) throw new Error(`there is no object ${number}`);
    return this.#objects.get(number);
  }

  drop(number) {
    if (!this.#objects.delete(number)) throw new Error(`object ${number} was dropped twice`);
  }
}

// What the program imports. `scope` is what it sees as its global object.
function functions(objects, scope) {
  return {
    __wbg_static_accessor_GLOBAL_THIS: () => objects.keep(scope),
    __wbg_static_accessor_SELF: () => objects.keep(scope),
    __wbg_static_accessor_WINDOW: () => 0,
    __wbg_static_accessor_GLOBAL: () => 0,
    __wbg_performance: (global) => objects.keep(objects.get(global).performance),
    __wbg_timeOrigin: (performance) => objects.get(performance).timeOrigin,
    // performance.now() takes its object, Date.now() nothing.
    __wbg_now: (...performance) => (performance.length ? objects.get(performance[0]).now() : Date.now()),
    __wbg___wbindgen_is_undefined: (object) => Number(objects.get(object) === undefined),
    __wbindgen_object_clone_ref: (object) => objects.keep(objects.get(object)),
    __wbindgen_object_drop_ref: (object) => objects.drop(object),
    __wbindgen_externref_statics_end: () => RESERVED,
  };
}

// Linked into every program, and called by none of these tests.
const UNUSED = [
  '__wbindgen_describe',
  '__wbg___wbindgen_jspi_spawn_poll',
  '__wbg___wbindgen_throw',
  '__wbindgen_externref_table_grow',
  '__wbindgen_externref_table_set_null',
];

function imports(module, scope) {
  const known = functions(new Objects(), scope);
  for (const name of UNUSED) {
    known[name] = () => {
      throw new Error(`${name} was called`);
    };
  }
  const wanted = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    const base = name.replace(/_[0-9a-f]{16}$/, '');
    if (!(base in known)) throw new Error(`the program wants ${from}.${name}, which ${import.meta.url} lacks`);
    (wanted[from] ??= {})[name] = known[base];
  }
  return wanted;
}

// Resolves to nothing, or to why the program failed.
export async function failure(program, scope = globalThis) {
  try {
    const module = await WebAssembly.compile(program);
    const { exports } = await WebAssembly.instantiate(module, imports(module, scope));
    const code = exports.main(0, 0);
    return code === 0 ? undefined : `main returned ${code}`;
  } catch (error) {
    const [message, ...frames] = (error.stack || String(error)).split('\n');
    const below = frames.findIndex((frame) => HARNESS.test(frame));
    const own = frames.slice(0, below < 0 ? undefined : below).filter((frame) => !PANIC.test(frame));
    return [message, ...own].join('\n');
  }
}
