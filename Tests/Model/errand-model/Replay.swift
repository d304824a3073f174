import ErrandModel

/// Shows one history, and what is left of it when every step is left out that is not needed for it to fail.
struct Replay {
    let command: String

    func run(_ history: History, _ fault: (History) async throws -> Fault?) async throws {
        guard let found = try await fault(history) else { return print("\(command): agrees") }
        print("step \(found.step) \(found.what)\n\nreplay: \(command)\n\nshrunk:")
        let short = try await history.shrunk { try await fault($0)?.kind == found.kind }
        print(short.listing)
        if let last = try await fault(short) { print("step \(last.step) \(last.what)") }
        throw Found()
    }
}
