/work/main/bench/peers/target/debug/deps/order-b4a9298519fbb9fe.d: src/bin/order.rs

/work/main/bench/peers/target/debug/deps/liborder-b4a9298519fbb9fe.rmeta: src/bin/order.rs

src/bin/order.rs:
