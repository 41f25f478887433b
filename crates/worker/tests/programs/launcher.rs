//! The smallest launcher: what the tests name as `JailedCommand::launcher`. With `hold SCRATCH TOKEN [LAYER…]` it is
//! a caller to be killed: it starts a jailed tree that never ends by itself and waits.

use rethrow_worker::process::{JailedCommand, spawn};
use rethrow_worker::sandbox::{self, Layer};

const LAYERS: [Layer; 6] = [Layer::UserNamespace, Layer::PidNamespace, Layer::NetNamespace, Layer::IpcNamespace, Layer::UtsNamespace, Layer::MountNamespace];

fn main() {
    sandbox::run_if_launcher();
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [hold, scratch, token, withheld @ ..] if hold == "hold" => keep_running(scratch, token, withheld),
        _ => std::process::exit(2),
    }
}

fn keep_running(scratch: &str, token: &str, withheld: &[String]) {
    let own = std::env::current_exe().expect("a running program has a path");
    // A detached grandchild and a direct child.
    let script = format!("setsid sleep {token} & sleep {token}");
    let mut command = JailedCommand::new(own, scratch, "sh").args(["-c", &script]);
    let named = |layer: &Layer| withheld.iter().any(|name| name == layer.name());
    command.withhold = LAYERS.into_iter().filter(named).collect();
    let _running = spawn(&command).expect("a jail");
    println!("running");
    std::thread::sleep(std::time::Duration::from_secs(600));
}
