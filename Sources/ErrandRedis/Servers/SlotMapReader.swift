import Backgroundable
import Errand
import Foundation
import Synchronization

/// Keeps a slot map up to date with what a ``SlotMapReader`` reads.
protocol SlotMapHolder: Sendable {
    /// Whether the map may be out of date, so that it has to be read again soon.
    var isMapDoubtful: Bool { get }
    /// The servers to ask for the map, in this order. Each turn has another number.
    func serversToAsk(turn: Int) -> [HostAndPort]
    /// Takes a map, or the error if no server returned one.
    func take(_ map: Result<SlotMap, BrokerError>)
}

/// Reads a cluster's slot map on a thread of its own: once when asked to, and again and again while it may be out of date.
final class SlotMapReader: Sendable {
    /// In milliseconds. Many calls may be redirected at the same time.
    private static let pause = 200

    private struct State {
        /// The server to ask first: it has just got a slot.
        var informed: HostAndPort?
        var isRunning = false
        var isClosed = false
    }

    private let survey: ClusterSurvey
    private let state = Mutex(State())
    private let wake = WakePipe()

    init(_ survey: ClusterSurvey) { self.survey = survey }

    /// Reads the map soon. The thread starts with the first call, and keeps the holder until ``close()``.
    ///
    /// - Parameter informed: A server to ask before the others.
    func read(for holder: some SlotMapHolder, from informed: HostAndPort? = nil) {
        let starts = state.withLock { state in
            if let informed { state.informed = informed }
            guard !state.isRunning, !state.isClosed else { return false }
            state.isRunning = true
            return true
        }
        if starts { DedicatedThread.start("errand-slots") { [self] in run(for: holder) } }
        wake.wake()
    }

    /// Ends the thread.
    func close() {
        state.withLock { $0.isClosed = true }
        wake.wake()
    }

    private func run(for holder: some SlotMapHolder) {
        var turn = 0
        while !state.withLock(\.isClosed) {
            holder.take(Result { () throws(BrokerError) in try survey.read(from: serversToAsk(turn, holder)) })
            turn += 1
            Thread.sleep(forTimeInterval: Double(Self.pause) / 2000)
            // A failover is noticed soon after the other servers have noticed it.
            while wake.wait(milliseconds: Self.pause) != .woken, !holder.isMapDoubtful {}
        }
    }

    private func serversToAsk(_ turn: Int, _ holder: some SlotMapHolder) -> [HostAndPort] {
        let informed = state.withLock { state in
            defer { state.informed = nil }
            return state.informed
        }
        var asked: Set<HostAndPort> = []
        return ((informed.map { [$0] } ?? []) + holder.serversToAsk(turn: turn)).filter { asked.insert($0).inserted }
    }
}
