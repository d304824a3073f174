import Foundation
import Synchronization

extension ChaosProxy {
    /// What a bad line does to everything that goes through, in both directions.
    package struct Weather: Sendable {
        /// How long each piece is under way.
        package var latency = Duration.zero
        /// How much longer at the most, by chance.
        package var jitter = Duration.zero
        /// Bytes a second that a connection carries.
        package var bandwidth = Int.max
        /// How likely a piece is lost on the way, so that it comes a retransmission later.
        package var loss = 0.0
        /// How long a retransmission takes.
        package var retransmission = Duration.milliseconds(300)

        /// A clear sky.
        package init() {}
    }

    /// Changes the weather.
    package func weather(_ change: @Sendable (inout Weather) -> Void) { edit { change(&$0.weather) } }

    /// How many pieces came late because they were lost on the way.
    package var stalls: Int { state.withLock(\.stalls) }

    /// Changes answers on their way: what `spoil` returns is delivered instead; `nil` leaves the answer alone.
    package func spoil(_ spoil: @escaping @Sendable (_ request: Request, _ answer: [UInt8]) -> [UInt8]?) {
        edit { $0.spoil = spoil }
    }

    /// How many answers were changed on their way.
    package var spoiledAnswers: Int { state.withLock(\.spoiledAnswers) }

    /// Sends new connections to another server from now on, and cuts those that there are.
    package func switchOver(to server: RedisServer) {
        let links = edit { state in
            state.upstream = server.socket
            return state.links
        }
        for link in links { link.close() }
    }

    // MARK: For links

    /// Delays a piece as the weather wants it.
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

    /// The answer as it is to be delivered.
    func spoiled(_ answer: [UInt8], of passage: Int?) -> [UInt8] {
        guard let passage else { return answer }
        let (spoil, request) = state.withLock { ($0.spoil, $0.passages[passage].request) }
        guard let changed = spoil(request, answer) else { return answer }
        edit { $0.spoiledAnswers += 1 }
        return changed
    }
}
