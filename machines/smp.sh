# Two CPUs, whose counters the kernel compares by itself: it finds them unstable and takes the HPET.
. /machines/common.sh
run measure clockscope measure tsc monotonic clockscope.now --duration 1s --format json --quiet
run order clockscope order tsc_lfence monotonic clockscope.now --duration 1s --format json --quiet
run offsets clockscope order --offsets --duration 1s --format json --quiet
run watch clockscope-watch 2
