//! Test support: the launcher and worker that tests/session.rs names. In the product both are the rethrow binary.

fn main() {
    rethrow_worker::sandbox::run_if_launcher();
    if std::env::args_os().nth(1).is_some_and(|first| first == rethrow_jvm::embed::WORKER_ARGUMENT) {
        rethrow_jvm::embed::worker_main(rethrow_worker::sandbox::PROTOCOL_FD);
    }
}
