# The kernel builds its clocks on the power management timer: 3.579545 MHz, 24 bits, read through a
# port.
. /machines/common.sh
run measure clockscope measure hpet tsc monotonic clockscope.now --duration 1s --format json --quiet
run steps_monotonic clockscope steps monotonic --duration 500ms --format json --quiet
run watch clockscope-watch 2
