import Foundation
import TestSupport

/// A network of its own with nothing but a loopback interface, in which packets can be thrown away.
///
/// Unix sockets reach across: the harness talks to servers in it past every rule.
struct NetworkNamespace: Sendable {
    /// Its name.
    let name: String

    /// Makes one, deleted with the scenario, with a hosts file of its own.
    ///
    /// - Parameter hosts: what `/etc/hosts` says in it.
    init(_ context: ScenarioContext, hosts: String = "127.0.0.1 localhost\n") throws {
        let name = "errand-f" + String(UInt32.random(in: 0 ... .max), radix: 36)
        self.name = name
        context.atEnd { _ = try? Shell.run("ip netns del \(name); rm -rf /etc/netns/\(name)") }
        try Shell.run("mkdir -p /etc/netns/\(name)")
        try Data(hosts.utf8).write(to: URL(fileURLWithPath: "/etc/netns/\(name)/hosts"))
        try Shell.run("ip netns add \(name)")
        // As on a real line, so that shaping and loss see packets of a usual size.
        try run("ip link set lo up mtu 1500")
    }

    /// The words that put a command into it.
    var prefix: [String] { ["ip", "netns", "exec", name] }

    /// Runs a command of the shell in it.
    @discardableResult
    func run(_ command: String) throws -> String { try Shell.run("ip netns exec \(name) sh -c '\(command)'") }

    /// Says anew what `/etc/hosts` is in it, for processes that run already, too.
    func hosts(_ text: String) throws {
        // In place: each process has this very file mounted.
        try Shell.run("printf '%s' '\(text)' > /etc/netns/\(name)/hosts")
    }

    /// Throws away what matches, for instance `-d 127.0.0.2`.
    func drop(_ matches: String...) throws {
        for match in matches { try run("iptables -I INPUT \(match) -j DROP") }
    }

    /// Throws what matches away no more.
    func pass(_ matches: String...) throws {
        for match in matches { try run("iptables -D INPUT \(match) -j DROP") }
    }

    /// Lets everything through again; answers how many packets the rules had thrown away.
    @discardableResult
    func heal() throws -> Int {
        let dropped = try dropped
        try run("iptables -F")
        return dropped
    }

    /// How many packets the rules have thrown away.
    var dropped: Int {
        get throws {
            try run("iptables -L INPUT -v -x -n").split(separator: "\n").dropFirst(2).reduce(0) { sum, line in
                sum + (line.split(separator: " ").first.flatMap { Int($0) } ?? 0)
            }
        }
    }

    /// Starts a server in it that listens on these addresses, too.
    func server(
        _ context: ScenarioContext,
        on addresses: [String] = ["127.0.0.1"],
        _ more: [String] = []
    ) throws -> RedisServer {
        try context.adopt(RedisServer(tcp: true, prefix: prefix, ["--bind"] + addresses + more))
    }
}
