# The kernel's clocksource is the HPET, which counts at 100 MHz here. It can be mapped as /dev/hpet,
# too.
. /machines/common.sh
run measure clockscope measure hpet tsc monotonic clockscope.now --duration 1s --format json --quiet
run steps_hpet clockscope steps hpet --duration 500ms --format json --quiet
run steps_monotonic clockscope steps monotonic --duration 500ms --format json --quiet
run rate clockscope rate hpet --duration 1s --format json --quiet
run watch clockscope-watch 2
