# Time is the number of instructions that were executed, a nanosecond each: the same command reads
# the same times in every boot. First of all, because how fast the console takes output is the only
# thing that differs.
settle tsc
run differences sh -c 'clockscope steps tsc monotonic --reads 100 --format csv --quiet | cut -d, -f1,4,9,11'
run readings sh -c 'clockscope steps monotonic --reads 100 --raw /tmp/raw.csv --quiet >/tmp/steps; cat /tmp/raw.csv'
. /machines/common.sh
run measure clockscope measure tsc monotonic clockscope.now --duration 100ms --format json --quiet
run rate clockscope rate tsc --duration 200ms --format json --quiet
run watch clockscope-watch 0.5
