//! A program that reads the time twice, by the library.

fn main() {
    let start = clockscope::now();
    println!("{:?}", start.elapsed());
}
