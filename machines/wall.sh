# Civil time by the counter while CLOCK_REALTIME is set forward and back, alone and beside threads whose time never goes back,
# and while a daemon slews it.
settle tsc
. /machines/common.sh
run watch clockscope-watch 2
for upkeep in "" upkeep; do
    run "wall$upkeep" clockscope-wall 5 $upkeep &
    sleep 0.7
    date -s @2000000000 >/dev/null
    sleep 0.7
    date -s @1900000000 >/dev/null
    sleep 0.5
    date -s @1900003600 >/dev/null
    sleep 1
    date -s @1900000000 >/dev/null
    sleep 0.5
    date -s @1900100000 >/dev/null
    wait
done
steer set >/dev/null
run wall_steered clockscope-wall 4 &
sleep 0.5
steer chronyd >/tmp/calls 2>&1
wait
run steer cat /tmp/calls
