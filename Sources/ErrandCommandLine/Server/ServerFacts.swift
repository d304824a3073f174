import Errand
package import ErrandRedis
import Foundation

/// The server's facts, as far as the user may read them.
package struct ServerFacts: Sendable {
    /// INFO; `nil` if the user may not read it.
    let info: RedisInfo?
    /// The reason why INFO was refused.
    var refusal: String?
    /// The settings by name; a setting is missing if the user may not read it, or the server does not have it.
    let settings: [String: String]
    /// Whether the user may list keys.
    package var mayListKeys = true
    /// How far the server's clock is ahead of this machine's, in milliseconds.
    let clockOffset: Int?
    /// The shortest of some round trips, in milliseconds.
    let roundTrip: Double

    private static let names = [
        "appendfsync", "save", "client-output-buffer-limit", "client-query-buffer-limit", "proto-max-bulk-len",
        "cluster-require-full-coverage",
    ]

    /// Makes facts from their parts.
    package init(
        info: RedisInfo?,
        refusal: String? = nil,
        settings: [String: String],
        clockOffset: Int?,
        roundTrip: Double
    ) {
        self.info = info
        self.refusal = refusal
        self.settings = settings
        self.clockOffset = clockOffset
        self.roundTrip = roundTrip
    }

    /// Reads the facts from a server.
    static func ask(
        _ broker: RedisBroker,
        at place: CommandPlace = .anywhere
    ) async throws(BrokerError) -> ServerFacts {
        let (offset, roundTrip) = try await clock(broker, place)
        var info: RedisInfo?
        var refusal: String?
        do throws(BrokerError) {
            info = RedisInfo(text: try await broker.command(.command("INFO"), for: place).text ?? "")
        } catch {
            guard [.notPermitted, .refused].contains(error.code) else { throw error }
            refusal = error.message
        }
        var settings: [String: String] = [:]
        for name in names {
            do throws(BrokerError) {
                let answer = try await broker.command(.command("CONFIG", "GET", name), for: place).elements ?? []
                if answer.count == 2 { settings[name] = answer[1].text }
            } catch {
                guard [.notPermitted, .refused].contains(error.code) else { throw error }
            }
        }
        var facts = ServerFacts(
            info: info,
            refusal: refusal,
            settings: settings,
            clockOffset: offset,
            roundTrip: roundTrip
        )
        facts.mayListKeys = try await broker.mayListKeys(at: place)
        return facts
    }

    /// Measures the clock by the fastest of five round trips: half of it is the maximum error.
    private static func clock(
        _ broker: RedisBroker,
        _ place: CommandPlace
    ) async throws(BrokerError) -> (offset: Int?, roundTrip: Double) {
        var best = (offset: Int?.none, roundTrip: Double.infinity)
        for _ in 0..<5 {
            let began = ContinuousClock.now
            let before = Date().timeIntervalSince1970
            let answer = try await broker.command(.command("TIME"), for: place).elements ?? []
            let took = (ContinuousClock.now - began) / .milliseconds(1)
            guard answer.count == 2, let seconds = answer[0].number, let micros = answer[1].number,
                took < best.roundTrip
            else { continue }
            let server = Double(seconds) * 1000 + Double(micros) / 1000
            best = (Int(exactly: (server - before * 1000 - took / 2).rounded()), took)
        }
        return best
    }
}
