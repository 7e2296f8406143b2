# The kernel builds its clocks on the generic timer, whose frequency the processor states.
. /machines/common.sh
run measure clockscope measure cntvct cntvct_isb monotonic clockscope.now --duration 1s --format json --quiet
run steps_cntvct clockscope steps cntvct --duration 500ms --format json --quiet
run steps_monotonic clockscope steps monotonic --duration 500ms --format json --quiet
run rate clockscope rate cntvct --duration 1s --format json --quiet
run watch clockscope-watch 2
