# The kernel builds its clocks on the TSC and believes that it is sound. In its first seconds it
# calls it tsc-early.
run watch_early clockscope-watch 2
settle tsc
. /machines/common.sh
run measure clockscope measure tsc rdtscp monotonic clockscope.now --duration 1s --format json --quiet
run steps_tsc clockscope steps tsc --duration 500ms --format json --quiet
run steps_monotonic clockscope steps monotonic --duration 500ms --format json --quiet
run rate clockscope rate tsc monotonic --duration 1s --format json --quiet
run watch clockscope-watch 2
