//! One run of the laws over standard input, as AFL wants it:
//! `cargo afl build --example fuzz && cargo afl fuzz -i fixtures/documents -o out target/debug/examples/fuzz`.
//! For libFuzzer, call `laws::fuzz` from `fuzz_target!`. By hand:
//! `cargo run --example fuzz < fixtures/documents/fence.md`.

#[path = "../tests/fuzz/laws.rs"]
mod laws;

use std::io::Read;

fn main() -> std::io::Result<()> {
    let mut data = Vec::new();
    std::io::stdin().read_to_end(&mut data)?;
    laws::fuzz(&data);
    Ok(())
}
