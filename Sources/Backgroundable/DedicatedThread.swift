import Foundation

/// A dedicated thread for work that other work must not delay.
///
/// Foundation's `Thread` reports no error if the system cannot create a thread, and its body never runs: a worker would
/// send no heartbeats. This type retries until it succeeds, as Dispatch does, and reports the failure on standard
/// error.
package enum DedicatedThread {
    /// The name and body of the thread, passed to it as its argument.
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    private static let pause: UInt32 = 100_000

    /// Runs a closure on a new thread.
    ///
    /// - Parameters:
    ///   - name: The name of the thread in debuggers. The system keeps 15 bytes of it.
    ///   - run: The body. The thread ends when it returns.
    package static func start(_ name: String, _ run: @escaping @Sendable () -> Void) {
        let body = Body(name, run)
        var error = launch(body)
        if error == 0 { return }
        let reason = String(cString: strerror(error))
        FileHandle.standardError.write(Data("errand: no thread for \(name): \(reason); trying again\n".utf8))
        while error != 0 {
            usleep(pause)
            error = launch(body)
        }
    }

    /// Creates the thread. Returns the system's error number, or 0 on success.
    private static func launch(_ body: Body) -> Int32 {
        let retained = Unmanaged.passRetained(body)
        #if canImport(Darwin) || canImport(Musl)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let error = pthread_create(
            &thread,
            nil,
            { argument in
                DedicatedThread.serve(argument)
                return nil
            },
            retained.toOpaque()
        )
        if error != 0 { retained.release() }
        return error
    }

    private static func serve(_ argument: UnsafeMutableRawPointer?) {
        guard let argument else { return }
        let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
        // No thread joins this one.
        pthread_detach(pthread_self())
        Thread.current.name = body.name
        body.run()
    }
}
