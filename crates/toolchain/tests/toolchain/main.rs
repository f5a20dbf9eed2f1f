//! Tests of the toolchain with a tiny component. They use the real Go where they need it, else a shell script in place
//! of Go. They need no network and build nothing big.

mod add;
mod bad_days;
mod build;
mod demo;
mod interrupt;
mod real;
