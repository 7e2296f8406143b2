# What every machine is asked.
run info clockscope info --format json
run list clockscope list --format json --path all
run kernel sh -c 'dmesg | grep -i -e clocksource -e tsc -e "sched_clock"'
run check clockscope check --format json --quiet
