# Two CPUs of Arm: hosts of `cargo xtask census` are derived from the check.
. /machines/common.sh
