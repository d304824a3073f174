import Foundation
import Synchronization

extension ChaosProxy {
    /// The quality of the network, which affects all traffic in both directions.
    package struct Weather: Sendable {
        /// The delay of each piece.
        package var latency = Duration.zero
        /// The largest random additional delay.
        package var jitter = Duration.zero
        /// The bytes per second of a connection.
        package var bandwidth = Int.max
        /// The probability that a piece is lost, which delays it by a retransmission.
        package var loss = 0.0
        /// The duration of a retransmission.
        package var retransmission = Duration.milliseconds(300)

        /// Makes a perfect network.
        package init() {}
    }

    /// Changes the quality of the network.
    package func weather(_ change: @Sendable (inout Weather) -> Void) { edit { change(&$0.weather) } }

    /// The number of pieces that were delayed by a loss.
    package var stalls: Int { state.withLock(\.stalls) }

    /// Changes replies in transit: delivers the result of `corrupt` instead of the reply, or the reply itself if that is
    /// `nil`.
    package func corrupt(_ corrupt: @escaping @Sendable (_ request: Request, _ answer: [UInt8]) -> [UInt8]?) {
        edit { $0.corrupt = corrupt }
    }

    /// The number of changed replies.
    package var corruptedReplies: Int { state.withLock(\.corruptedReplies) }

    /// Connects new clients to another server from now on, and closes the existing connections.
    package func switchOver(to server: RedisServer) {
        let links = edit { state in
            state.upstream = server.socket
            return state.links
        }
        for link in links { link.close() }
    }

    // MARK: For links

    /// Delays a piece according to the quality of the network.
    func weather(on bytes: Int) {
        let weather = state.withLock(\.weather)
        var delay = weather.latency
        if weather.jitter > .zero { delay += weather.jitter * Double.random(in: 0...1) }
        if weather.bandwidth < .max { delay += .seconds(Double(bytes) / Double(weather.bandwidth)) }
        if weather.loss > 0, Double.random(in: 0...1) < weather.loss {
            edit { $0.stalls += 1 }
            delay += weather.retransmission
        }
        if delay > .zero { Thread.sleep(forTimeInterval: delay / .seconds(1)) }
    }

    /// Returns the reply to deliver.
    func corrupted(_ answer: [UInt8], of passage: Int?) -> [UInt8] {
        guard let passage else { return answer }
        let (corrupt, request) = state.withLock { ($0.corrupt, $0.passages[passage].request) }
        guard let changed = corrupt(request, answer) else { return answer }
        edit { $0.corruptedReplies += 1 }
        return changed
    }
}
