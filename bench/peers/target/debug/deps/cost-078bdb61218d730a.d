/work/main/bench/peers/target/debug/deps/cost-078bdb61218d730a.d: src/bin/cost.rs

/work/main/bench/peers/target/debug/deps/libcost-078bdb61218d730a.rmeta: src/bin/cost.rs

src/bin/cost.rs:
