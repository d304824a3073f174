import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The wish of a person or a supervisor that the process ends: SIGINT or SIGTERM.
package struct Interruption: Sendable {
    /// One element for each signal.
    package let signals: AsyncStream<Int32>
    private let sources: Sources

    /// Catches the signals from now on, for as long as this value lives; they no longer end the process by themselves.
    package init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        signals = stream
        sources = Sources(
            sources: [SIGINT, SIGTERM].map { number in
                signal(number, SIG_IGN)
                let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
                source.setEventHandler { continuation.yield(number) }
                source.resume()
                return source
            }
        )
    }
}

/// Keeps the sources alive. Unchecked because nothing is ever called on them again; Dispatch on Linux does not say
/// Sendable.
private struct Sources: @unchecked Sendable {
    let sources: [any DispatchSourceSignal]
}
