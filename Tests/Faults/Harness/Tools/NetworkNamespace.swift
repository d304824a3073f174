import Foundation
import TestSupport

/// A network namespace with only a loopback interface, in which packets can be dropped.
///
/// Unix sockets reach across, so the harness can call servers in it despite every rule.
struct NetworkNamespace: Sendable {
    /// Its name.
    let name: String

    /// Creates one with a hosts file of its own, deleted with the scenario.
    ///
    /// - Parameter hosts: The contents of `/etc/hosts` in it.
    init(_ context: ScenarioContext, hosts: String = "127.0.0.1 localhost\n") throws {
        let name = "errand-f" + String(UInt32.random(in: 0 ... .max), radix: 36)
        self.name = name
        context.atEnd { _ = try? Shell.run("ip netns del \(name); rm -rf /etc/netns/\(name)") }
        try Shell.run("mkdir -p /etc/netns/\(name)")
        try Data(hosts.utf8).write(to: URL(fileURLWithPath: "/etc/netns/\(name)/hosts"))
        try Shell.run("ip netns add \(name)")
        // Like on a real network, so that packets have a usual size.
        try run("ip link set lo up mtu 1500")
    }

    /// The words before a command that run it in the namespace.
    var prefix: [String] { ["ip", "netns", "exec", name] }

    /// Runs a shell command in it.
    @discardableResult
    func run(_ command: String) throws -> String { try Shell.run("ip netns exec \(name) sh -c '\(command)'") }

    /// Replaces the contents of `/etc/hosts` in it, also for running processes.
    func hosts(_ text: String) throws {
        // In place, because each process has this file mounted.
        try Shell.run("printf '%s' '\(text)' > /etc/netns/\(name)/hosts")
    }

    /// Drops matching packets, for instance `-d 127.0.0.2`.
    func drop(_ matches: String...) throws {
        for match in matches { try run("iptables -I INPUT \(match) -j DROP") }
    }

    /// Stops dropping matching packets.
    func pass(_ matches: String...) throws {
        for match in matches { try run("iptables -D INPUT \(match) -j DROP") }
    }

    /// Removes all rules, and returns the number of packets that they dropped.
    @discardableResult
    func heal() throws -> Int {
        let dropped = try dropped
        try run("iptables -F")
        return dropped
    }

    /// The number of packets that the rules have dropped.
    var dropped: Int {
        get throws {
            try run("iptables -L INPUT -v -x -n").split(separator: "\n").dropFirst(2).reduce(0) { sum, line in
                sum + (line.split(separator: " ").first.flatMap { Int($0) } ?? 0)
            }
        }
    }

    /// Starts a server in it that also listens on these addresses.
    func server(
        _ context: ScenarioContext,
        on addresses: [String] = ["127.0.0.1"],
        _ more: [String] = []
    ) throws -> RedisServer {
        try context.adopt(RedisServer(tcp: true, prefix: prefix, ["--bind"] + addresses + more))
    }
}
