import Foundation
import TestSupport

/// A control group (version 1) of one controller, removed with the scenario.
struct ControlGroup {
    private let path: String

    init(_ context: ScenarioContext, _ controller: String) throws {
        let path = "/sys/fs/cgroup/\(controller)/errand-faults-\(UInt32.random(in: 0 ... .max))"
        self.path = path
        try Shell.run("mkdir \(path)")
        context.atEnd {
            _ = try? Shell.run("for i in 1 2 3 4 5 6 7 8 9 10; do rmdir \(path) && break; sleep 0.1; done")
        }
    }

    /// Sets one of its values.
    func set(_ file: String, _ value: String) throws { try Shell.run("echo \(value) > \(path)/\(file)") }

    /// One of its values.
    func get(_ file: String) throws -> String { try Shell.run("cat \(path)/\(file)") }

    /// The number of its processes that the kernel has killed for lack of memory.
    var kills: Int {
        get throws {
            let line = try get("memory.oom_control").split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
            return line?.split(separator: " ").last.flatMap { Int($0) } ?? 0
        }
    }

    /// Puts a process into it.
    func add(_ pid: Int32) throws { try set("cgroup.procs", "\(pid)") }

    /// The words before a command that start it in the group.
    var prefix: [String] { ["sh", "-c", #"echo $$ > "$0/cgroup.procs" && exec "$@""#, path] }
}
