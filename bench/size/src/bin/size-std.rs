//! The same by std alone.

fn main() {
    let start = std::time::Instant::now();
    println!("{:?}", start.elapsed());
}
