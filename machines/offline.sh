# A CPU is taken away while questions across CPUs are being answered, and comes back after each.
. /machines/common.sh
cpu1=/sys/devices/system/cpu/cpu1/online

run order clockscope order tsc_lfence monotonic --duration 3s --fail-on regression --format json --quiet &
sleep 1.5
echo 0 >$cpu1
wait
echo 1 >$cpu1
run gaps clockscope gaps --cpus 0-1 --duration 2s --threshold 100us --format json --quiet &
sleep 1
echo 0 >$cpu1
wait
echo 1 >$cpu1
run watch clockscope-watch 3 &
sleep 1.5
echo 0 >$cpu1
wait
