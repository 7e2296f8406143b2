# A CPU is taken away while questions across CPUs are being answered, and comes back after each.
. /machines/common.sh
cpu1=/sys/devices/system/cpu/cpu1/online

# Waits until a thread of the program is bound to CPU 1: a busy host delays its start by seconds.
bound() { # PROGRAM
    local tries=200
    until grep -qsx 'Cpus_allowed_list:.1' $(bound_to "$1") || [ $tries = 0 ]; do
        tries=$((tries - 1))
        sleep 0.05
    done
}

# The files that show which CPUs each thread of the program may run on.
bound_to() { # PROGRAM
    local process
    for process in $(pidof "$1"); do
        echo /proc/"$process"/task/*/status
    done
    echo /dev/null
}

run order clockscope order tsc_lfence monotonic --duration 5s --fail-on regression --format json --quiet &
bound clockscope
echo 0 >$cpu1
wait
echo 1 >$cpu1
run gaps clockscope gaps --cpus 0-1 --duration 5s --threshold 100us --format json --quiet &
bound clockscope
echo 0 >$cpu1
wait
echo 1 >$cpu1
run watch clockscope-watch 3 &
sleep 1.5
echo 0 >$cpu1
wait
