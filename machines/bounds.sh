# What the stated error of the time of day is worth, where the true time is known: 100 ms ahead of
# the clock until a daemon's calls have moved it, and a leap second.
settle tsc
. /machines/common.sh
run watch clockscope-watch 2
for daemon in chronyd ntpd timesyncd phc2sys; do
    steer set >/dev/null
    run "bounds_$daemon" clockscope-bounds 100 5 steer "bounds-$daemon"
    steer none >/dev/null
done
steer set >/dev/null
steer leap >/tmp/calls 2>&1
run bounds_leap clockscope-bounds leap 5
run steer_leap cat /tmp/calls
