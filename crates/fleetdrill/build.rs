//! Lets this crate be built anew when a file that it has in it is added: the compiler doesn't see that by itself.

fn main() {
    for dir in ["features", "guides"] {
        println!("cargo:rerun-if-changed=../../{dir}");
    }
}
