# The time of day by the counter while CLOCK_REALTIME is set forward and back, alone and beside
# threads whose time never goes back, and while a daemon slews it.
settle tsc
. /machines/common.sh
run watch clockscope-watch 2
set --
for date in 2000000000 1900000000 1900003600 1900000000 1900100000; do
    set -- "$@" "date -s @$date"
done
run wall clockscope-wall 0 "$@"
run wallupkeep clockscope-wall 0 --upkeep "$@"
steer set >/dev/null
run moved_before steer moved
run wall_steered clockscope-wall 0 "steer chronyd"
run moved_after steer moved
