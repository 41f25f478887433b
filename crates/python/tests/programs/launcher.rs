//! Test support: the launcher that the tests name. In the product it is the rethrow binary.

fn main() {
    rethrow_worker::sandbox::run_if_launcher();
}
