"""Runs a program for WASI in wasmtime: `python3 run.py PROGRAM.wasm [ARGUMENT...]`."""

import os
import sys

from wasmtime import Config, Engine, ExitTrap, Linker, Module, Store, WasiConfig

ENOTSUP = 58

engine = Engine(Config())
module = Module.from_file(engine, sys.argv[1])
store = Store(engine)
wasi = WasiConfig()
wasi.argv = sys.argv[1:]
wasi.env = list(os.environ.items())
wasi.inherit_stdin()
wasi.inherit_stdout()
wasi.inherit_stderr()
store.set_wasi(wasi)
linker = Linker(engine)
linker.define_wasi()
# Debian's C library for WASI lacks the functions of threads. Later ones have them, and refuse to
# create one.
for wanted in module.imports:
    if wanted.module == "env":
        answer = ENOTSUP if wanted.name == "pthread_create" else 0
        linker.define_func("env", wanted.name, wanted.type, lambda *_, answer=answer: answer)
try:
    linker.instantiate(store, module).exports(store)["_start"](store)
except ExitTrap as ended:
    sys.exit(ended.code)
