# needs: cargo cc
export CARGO_HOME="$PWD/home"
cargo init -q --vcs none --name demo demo && cd demo
cat >src/main.rs <<'R'
fn double(n: i32) -> i32 { n * 2 }
fn main() { let h: Vec<_> = (0..8).map(|i| std::thread::spawn(move || i)).collect(); let s: i32 = h.into_iter().map(|t| t.join().unwrap()).sum(); println!("{}", double(s)); }
#[test]
fn doubles() { assert_eq!(double(2), 4) }
R
cargo build -q --offline
test "$(./target/debug/demo)" = 56
cargo test -q --offline | grep -q '1 passed'
