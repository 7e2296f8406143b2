# The instrument switches the clocksource itself, and puts back what was there, however it ends.
settle tsc
. /machines/common.sh
current=$CLOCKSOURCE/current_clocksource
mkdir -p /etc
echo 'nobody:x:65534:65534:nobody:/tmp:/bin/sh' >/etc/passwd

# Measures with the HPET in the background, long enough to be disturbed, and waits until it has
# switched.
disturbed() { # NAME
    run "$1" clockscope measure monotonic --clocksource hpet --duration 20s --format json --quiet &
    while [ "$(cat $current)" != hpet ]; do sleep 0.1; done
    sleep 0.3
}

run sources clockscope clocksource --format json
run switched clockscope measure tsc monotonic --clocksource hpet,acpi_pm,tsc --duration 300ms --format json --quiet
run after_switched cat $current

# What an operator sees who records the machine before and after a kernel that switched.
clockscope measure tsc monotonic --duration 300ms --repeat 5 --format json -o /tmp/before.json --quiet
echo hpet >$current
clockscope measure tsc monotonic --duration 300ms --repeat 5 --format json -o /tmp/after.json --quiet
echo tsc >$current
run compared clockscope compare /tmp/before.json /tmp/after.json --fail-on clocksource,slower --format json
run missing clockscope measure monotonic --clocksource hpet,sundial --duration 300ms --quiet
run denied su nobody -s /bin/sh -c 'clockscope measure monotonic --clocksource hpet --duration 300ms --quiet'

# Stands for a compiler: hands out the probe that was compiled outside.
cat >/bin/cc <<'END'
#!/bin/sh
[ "$1" = --version ] && echo 'cc 1.0' && exit
while [ "$1" != -o ]; do shift; done
cp /bin/probe-c "$2"
END
chmod +x /bin/cc
run runtimes clockscope runtimes c perl --clocksource hpet,acpi_pm,tsc --duration 300ms --format json --quiet
run after_runtimes cat $current
run runtimes_denied su nobody -s /bin/sh -c 'clockscope runtimes c --clocksource hpet --quiet'

for signal in INT TERM HUP QUIT; do
    disturbed "ended_$signal"
    kill -$signal "$(pidof clockscope)"
    wait
    run "after_$signal" cat $current
done

disturbed busy
run second clockscope measure monotonic --clocksource acpi_pm --duration 300ms --quiet
run beside clockscope measure monotonic --duration 300ms --quiet
kill -TERM "$(pidof clockscope)"
wait
run after_busy cat $current

disturbed killed
kill -KILL "$(pidof clockscope)"
wait
run after_killed cat $current
run warned clockscope measure monotonic --duration 300ms --quiet
run refused clockscope measure monotonic --clocksource acpi_pm --duration 300ms --quiet
run left clockscope clocksource --format json
run restored clockscope clocksource --restore --format json
run after_restored cat $current
run marker sh -c 'ls /run | grep clockscope-clocksource'
run watch clockscope-watch 1
