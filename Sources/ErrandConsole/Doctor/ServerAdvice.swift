import Errand
import ErrandRedis

/// Looks at the server's settings for what endangers jobs.
struct ServerAdvice {
    let broker: RedisBroker

    /// What there is to say about the server.
    func advice() async throws(BrokerError) -> [Advice] {
        let facts: [String: String]
        do throws(BrokerError) { facts = try await information() } catch {
            guard [.notPermitted, .refused].contains(error.code) else { throw error }
            return [
                Advice(
                    kind: "settings_hidden",
                    message: "the server does not tell its settings (INFO): \(error.message)"
                )
            ]
        }
        let fsync = await setting("appendfsync")
        return [version(facts), role(facts), eviction(facts), durability(facts, fsync)].compactMap(\.self)
    }

    /// The lines `name:value` of INFO.
    private func information() async throws(BrokerError) -> [String: String] {
        let text = try await broker.command(.command("INFO")).text ?? ""
        var facts: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            facts[String(line[..<colon])] = String(line[line.index(after: colon)...])
        }
        return facts
    }

    /// A setting; `nil` where the server does not tell it, as many hosted ones do not.
    private func setting(_ name: String) async -> String? {
        let answer = try? await broker.command(.command("CONFIG", "GET", name)).elements
        return answer?.count == 2 ? answer?[1].text : nil
    }

    private func version(_ facts: [String: String]) -> Advice? {
        let version = facts["redis_version"] ?? "unknown"
        if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 7 { return nil }
        return Advice(
            kind: "version",
            message: "the server's version is \(version); Errand needs Redis 7 or newer, or Valkey"
        )
    }

    private func role(_ facts: [String: String]) -> Advice? {
        guard let role = facts["role"], role != "master" else { return nil }
        return Advice(
            kind: "role",
            message: "the server is a \(role): it takes no writes. Use the address of the primary"
        )
    }

    private func eviction(_ facts: [String: String]) -> Advice? {
        guard let policy = facts["maxmemory_policy"], policy != "noeviction" else { return nil }
        return Advice(
            kind: "maxmemory_policy",
            message: "maxmemory-policy is \(policy): a full server would throw jobs away. Set it to noeviction"
        )
    }

    private func durability(_ facts: [String: String], _ fsync: String?) -> Advice? {
        if facts["aof_enabled"] == "0" {
            return Advice(
                kind: "appendonly",
                message:
                    "appendonly is off: a crash of the server loses every job since its last snapshot. Set appendonly yes"
            )
        }
        guard fsync == "no" else { return nil }
        return Advice(
            kind: "appendfsync",
            message:
                "appendfsync is no: a crash of the machine loses what the system has not written yet. Set it to everysec or always"
        )
    }
}
