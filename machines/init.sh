#!/bin/busybox sh
# The first process of an emulated machine: runs the script of the machine that the kernel's command
# line names (`machine=hpet`), whose commands a user could type, and turns the machine off. What
# they print leaves by the console, framed so that the test finds it: `@@begin NAME`, the output and
# a line's end, `@@end NAME EXITCODE`.
export PATH=/bin HOME=/tmp TERM=dumb
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
mount -t tmpfs tmp /tmp
exec </dev/null >/dev/console 2>&1

CLOCKSOURCE=/sys/devices/system/clocksource/clocksource0

# Waits until the kernel has taken this clocksource: the TSC's frequency is known only some seconds
# after the start.
settle() { # CLOCKSOURCE
    local tries=100
    until [ "$(cat $CLOCKSOURCE/current_clocksource)" = "$1" ] || [ $tries = 0 ]; do
        tries=$((tries - 1))
        sleep 0.1
    done
}

# Runs a command and frames what it gave. What runs in the background must end (`wait`) before the
# next one.
run() { # NAME COMMAND...
    local name="$1" code
    shift
    "$@" >"/run/$name" 2>"/run/$name.stderr"
    code=$?
    frame "$name" "$code"
    frame "$name.stderr" "$code"
}

# The whole output at once, so that nothing of another command comes between its lines.
frame() { # NAME CODE
    printf '@@begin %s\n' "$1"
    cat "/run/$1"
    printf '\n@@end %s %s\n' "$1" "$2"
}

. "/machines/$machine.sh"
echo "@@done"
poweroff -f
