# The kernel is made to turn away from the counter while the library serves it.
settle tsc
. /machines/common.sh
run watch clockscope-watch 4 &
sleep 2
echo hpet >$CLOCKSOURCE/current_clocksource
wait
run info_after clockscope info --format json
run steps_monotonic clockscope steps monotonic --duration 500ms --format json --quiet
