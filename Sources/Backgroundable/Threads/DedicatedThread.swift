import Foundation

/// A thread of its own for work that nothing else may hold up.
///
/// Foundation's `Thread` says nothing when the system has no thread to give, and what was to run on it never does: a worker without its
/// heartbeat. This one is asked for again until there is one, as Dispatch does, and says on standard error that it waits.
package enum DedicatedThread {
    /// The body, on its way to the thread.
    private final class Body {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    private static let pause: UInt32 = 100_000

    /// Runs something on a new thread.
    ///
    /// - Parameters:
    ///   - name: what debuggers call the thread; the system keeps 15 bytes of it.
    ///   - run: what it does; the thread ends with it.
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

    /// Makes the thread; answers the system's error number, 0 for none.
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
        // Nobody waits for its end.
        pthread_detach(pthread_self())
        Thread.current.name = body.name
        body.run()
    }
}
