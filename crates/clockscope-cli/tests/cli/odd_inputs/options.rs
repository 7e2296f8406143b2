//! Words that name nothing, and options that exclude each other.

use super::Input::*;
use super::Output::*;
use super::{Row, row};

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("\"\"", None, Pipe, 2, "error: the clock's name is empty: name one, or leave it out"),
    row("trust", None, Pipe, 2, "error: unknown command or clock: trust; did you mean check? `clockscope -h` shows all commands, `clockscope list` all clocks"),
    row("latency", None, Pipe, 2, "error: unknown command or clock: latency; did you mean measure or sleep? `clockscope -h` shows all commands, `clockscope list` all clocks"),
    row("version", None, Pipe, 2, "error: unknown command or clock: version; did you mean --version? `clockscope -h` shows all commands, `clockscope list` all clocks"),
    row("benchmark", None, Pipe, 2, "error: unknown command or clock: benchmark; did you mean measure? `clockscope -h` shows all commands, `clockscope list` all clocks"),
    row("tsc,monotonic", None, Pipe, 2, "error: tsc,monotonic: separate clocks by blanks: tsc monotonic"),
    row("monotonic:sea", None, Pipe, 2, "error: monotonic has no path sea: name monotonic alone, or one that `clockscope list` shows"),
    row("clock_gettime", None, Pipe, 2, "error: clock_gettime reads several clocks: name one, such as monotonic or realtime; `clockscope list` shows all clocks"),
    row("qqqq", None, Pipe, 2, "error: unknown command or clock: qqqq; `clockscope -h` shows all commands, `clockscope list` all clocks"),
    row("-d 10 min", None, Pipe, 2, "error: -d 10 min: write the time as one word: -d 10min"),
    row("monotonic -d 10 s", None, Pipe, 2, "error: -d 10 s: write the time as one word: -d 10s"),
    row("measure \"\"", None, Pipe, 2, "error: the clock's name is empty: name one, or leave it out"),
    row("check \"\"", None, Pipe, 2, "error: the clock's name is empty: name one, or leave it out"),
    row("check tsc,monotonic", None, Pipe, 2, "error: tsc,monotonic: separate clocks by blanks: tsc monotonic"),
    row("shootout \"\" monotonic", None, Pipe, 2, "error: the clock's name is empty: name one, or leave it out"),
    row("runtimes \"\"", None, Pipe, 2, "error: a runtime's name is empty; `clockscope runtimes --list` shows all runtimes"),
    row("rate --reference \"\"", None, Pipe, 2, "error: the clock's name is empty: name one, or leave it out"),
    row("--nosuch", None, Pipe, 2, "error: unexpected argument '--nosuch' found"),
    row("measure --nosuch=1", None, Pipe, 2, "error: unexpected argument '--nosuch' found"),
    row("-é", None, Pipe, 2, "error: unexpected argument '-é' found"),
    row("measure --format xml", None, Pipe, 2, "error: invalid value 'xml' for '--format <FORMAT>'"),
    row("measure --format \"\"", None, Pipe, 2, "error: a value is required for '--format <FORMAT>' but none was supplied"),
    row("measure --via sea", None, Pipe, 2, "error: invalid value 'sea' for '--via <PATH>'"),
    row("measure --columns most", None, Pipe, 2, "error: invalid value 'most' for '--columns <COLUMNS>'"),
    row("measure --fail-on rain", None, Pipe, 2, "error: invalid value 'rain' for '--fail-on <EVENT>'"),
    row("check --for ever", None, Pipe, 2, "error: invalid value 'ever' for '--for <USE>'"),
    row("check --exit-codes x", None, Pipe, 2, "error: invalid value 'x' for '--exit-codes <CODES>'"),
    row("measure --color pink", None, Pipe, 2, "error: invalid value 'pink' for '--color <WHEN>'"),
    row("schema sundial", None, Pipe, 2, "error: invalid value 'sundial' for '[OF]'"),
    row("completions tcsh", None, Pipe, 2, "error: invalid value 'tcsh' for '<SHELL>'"),
    row("steps --raw-format npy", None, Pipe, 2, "error: the following required arguments were not provided:"),
    row("steps --raw x.csv --raw-style bold", None, Pipe, 2, "error: invalid value 'bold' for '--raw-style <STYLE>'"),
    row("runtimes --runtime python", None, Pipe, 2, "error: invalid value 'python' for '--runtime <NAME=PROGRAM>': expected a runtime and its program, such as python=/opt/python/bin/python3"),
    row("runtimes --list --duration 1s", None, Pipe, 2, "error: the argument '--list' cannot be used with '--duration <TIME>'"),
    row("measure --json --csv", None, Pipe, 2, "error: the argument '--json' cannot be used with '--csv'"),
    row("-v --brief", None, Pipe, 2, "error: the argument '--verbose' cannot be used with '--brief'"),
    row("check --brief --verbose", None, Pipe, 2, "error: the argument '--brief' cannot be used with '--verbose'"),
    row("steps --reads 10 -d 1s", None, Pipe, 2, "error: the argument '--reads <N>' cannot be used with '--duration <TIME>'"),
    row("measure --fail-on slower", None, Pipe, 2, "error: --fail-on: slower, verdict, clocksource and events are changes: --baseline FILE names what to compare with"),
];
