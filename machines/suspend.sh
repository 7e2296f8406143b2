# The machine sleeps (ACPI S3) until its real-time clock wakes it.
settle tsc
. /machines/common.sh
cat >/bin/suspend <<'END'
#!/bin/sh
echo 0 >/sys/class/rtc/rtc0/wakealarm
echo "+$1" >/sys/class/rtc/rtc0/wakealarm
echo mem >/sys/power/state
END
chmod +x /bin/suspend
run boot clockscope-boot "suspend 3" "suspend 2" "suspend 4"
run kernel_suspends sh -c 'dmesg | grep -c "PM: suspend exit"'
run watch clockscope-watch 1
