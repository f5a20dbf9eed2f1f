//! The toolchain on a tiny component of its own: with the real Go where it has to be, else with a shell script that
//! plays Go. No network, no big builds.

mod add;
mod bad_days;
mod build;
mod demo;
mod interrupt;
mod real;
