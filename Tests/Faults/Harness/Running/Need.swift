import Foundation

/// A requirement of a scenario on its machine.
enum Need: String, Sendable {
    /// Root privileges and network namespaces.
    case networkNamespaces = "root, `ip netns` and iptables"
    /// Root privileges to mount file systems.
    case mounting = "root and the right to mount a tmpfs"
    /// Control groups (version 1) of memory, freezer and pids.
    case controlGroups = "root and control groups of version 1"
    /// The faketime library.
    case faketime = "faketime"
    /// Tools and permissions to set limits of other processes.
    case prlimit = "prlimit"

    /// Whether the machine meets it.
    var isMet: Bool {
        switch self {
        case .networkNamespaces: Self.works("n=errand-try-$$; ip netns add $n && ip netns del $n && iptables --version")
        case .mounting:
            Self.works("d=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d")
        case .controlGroups: Self.works("test -w /sys/fs/cgroup/memory -a -w /sys/fs/cgroup/freezer")
        case .faketime: Self.works("command -v faketime")
        case .prlimit: Self.works("command -v prlimit")
        }
    }

    private static func works(_ command: String) -> Bool { (try? Shell.run(command)) != nil }
}
