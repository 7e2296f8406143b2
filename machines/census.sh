# Two CPUs of Arm: hosts of a census are derived from the check
# (crates/clockscope-python/tests/census).
. /machines/common.sh
