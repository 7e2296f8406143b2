# The kernel builds its clocks on its own timer interrupt: 250 a second.
. /machines/common.sh
run measure clockscope measure hpet tsc monotonic clockscope.now --duration 1s --format json --quiet
run steps_monotonic clockscope steps monotonic --duration 500ms --format json --quiet
run watch clockscope-watch 2
