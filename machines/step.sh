# The wall clock is set while the instrument looks at it.
settle tsc
. /machines/common.sh
# On a busy host each begins late.
run rate clockscope rate realtime monotonic tsc --duration 5s --format json --quiet &
sleep 3
date -s @2000000000 >/dev/null
wait
run steps_realtime clockscope steps realtime --duration 5s --format json --quiet &
sleep 3
date -s @1900000000 >/dev/null
wait
run steps_monotonic clockscope steps monotonic --duration 5s --format json --quiet &
sleep 3
date -s @2000000000 >/dev/null
wait
run watch clockscope-watch 4 &
sleep 2
date -s @1900000000 >/dev/null
wait
