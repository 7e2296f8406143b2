# A billion readings of the time that never goes back, by two threads, while CLOCK_REALTIME is set
# forward and back.
settle tsc
. /machines/common.sh
run watch clockscope-watch 2
run monotone clockscope-wall 1000000000 "date -s @2000000000" "date -s @1900000000"
