# The kernel's clock is steered, as ntpd does it: faster by 1000 ppm (a tick of 10010 µs) and slower
# again.
settle tsc
. /machines/common.sh
run rate_slewed sh -c 'adjtimex -t 10010 >/dev/null; clockscope rate tsc monotonic --duration 1s --format json --quiet'
run rate_back sh -c 'adjtimex -t 10000 >/dev/null; clockscope rate tsc monotonic --duration 1s --format json --quiet'
# Long enough that the change falls into the run where the emulated machine takes seconds to start it.
run rate clockscope rate tsc monotonic --duration 6s --format json --quiet &
sleep 3
adjtimex -t 10010 >/dev/null
wait
run watch clockscope-watch 4 &
sleep 2
adjtimex -t 10005 >/dev/null
wait
# Stamps, by 500 ppm in either direction (the frequency is in 2^-16 ppm).
run stamps clockscope-stamps 100 'sleep 1' 'adjtimex -f 32768000' 'adjtimex -f -32768000' 'sleep 1' 'adjtimex -f 32768000' 'adjtimex -f 0'
