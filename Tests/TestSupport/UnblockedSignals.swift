import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Does something with no signal blocked on this thread.
///
/// A process inherits the mask of the thread that starts it, and dispatch's threads block nearly all signals: a program
/// that is started from one would not hear a SIGTERM.
func withUnblockedSignals<Value>(_ body: () throws -> Value) rethrows -> Value {
    var none = sigset_t()
    var before = sigset_t()
    sigemptyset(&none)
    pthread_sigmask(SIG_SETMASK, &none, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return try body()
}
