import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The pipe on standard input, whose other end the parent holds. It closes when the parent exits or wants the worker to
/// stop.
final class Lifeline: Sendable {
    private let (ends, end) = AsyncStream.makeStream(of: Void.self)

    init() {
        let thread = Thread { [end] in
            Self.awaitEnd()
            end.finish()
            // Releasing claims takes no time. A worker that cannot do it must not outlive the demo.
            Thread.sleep(forTimeInterval: 3)
            _exit(0)
        }
        thread.name = "errand-lifeline"
        thread.start()
    }

    func onEnd(_ leave: @escaping @Sendable () -> Void) {
        Task { [ends] in
            for await _ in ends {}
            leave()
        }
    }

    private static func awaitEnd() {
        var byte: UInt8 = 0
        while true {
            let count = read(0, &byte, 1)
            if count == 0 || (count < 0 && errno != EINTR) { return }
        }
    }
}
