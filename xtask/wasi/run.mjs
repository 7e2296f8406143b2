// Runs a program for WASI in Node: `node --no-warnings run.mjs PROGRAM.wasm [ARGUMENT...]`.
import { readFile } from 'node:fs/promises';
import { argv, env } from 'node:process';
import { WASI } from 'node:wasi';

const ENOTSUP = 58;
const wasi = new WASI({ version: 'preview1', args: argv.slice(2), env });
const module = await WebAssembly.compile(await readFile(argv[2]));
// Debian's C library for WASI lacks the functions of threads. Later ones have them, and refuse to
// create one.
const wanted = WebAssembly.Module.imports(module).filter((it) => it.module === 'env');
const threads = Object.fromEntries(wanted.map(({ name }) => [name, () => (name === 'pthread_create' ? ENOTSUP : 0)]));
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport, env: threads });
wasi.start(instance);
