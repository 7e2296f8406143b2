# A processor without RDTSCP: what needs it says so, and the rest works.
settle tsc
. /machines/common.sh
run measure clockscope measure tsc monotonic clockscope.now --duration 500ms --format json --quiet
run missing clockscope measure rdtscp tsc --duration 200ms --format json --quiet
run watch clockscope-watch 1
