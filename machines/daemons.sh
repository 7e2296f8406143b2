# Time daemons steer the kernel's clock: their calls of adjtimex, and the library beside each.
settle tsc
. /machines/common.sh
for daemon in chronyd ntpd timesyncd phc2sys; do
    run "watch_$daemon" clockscope-watch 4.5 &
    sleep 0.5
    steer $daemon >/tmp/calls 2>&1
    wait
    run "steer_$daemon" cat /tmp/calls
    steer none >/dev/null
done
run watch clockscope-watch 2
