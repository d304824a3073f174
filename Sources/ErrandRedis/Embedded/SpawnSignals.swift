#if canImport(Glibc)
    package import Glibc
#elseif canImport(Musl)
    package import Musl
#elseif canImport(Darwin)
    package import Darwin
#endif

/// Lets a child start with default signals, whatever the parent or its current thread has set.
///
/// - Parameters:
///   - attributes: The initialized attributes of the child.
///   - more: Other flags of the child, such as `POSIX_SPAWN_SETPGROUP`.
package func setUsualSignals(of attributes: inout posix_spawnattr_t, andFlags more: Int32 = 0) {
    var defaults = sigset_t()
    sigfillset(&defaults)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &defaults)
    posix_spawnattr_setsigmask(&attributes, &none)
    let flags = Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK) | more
    posix_spawnattr_setflags(&attributes, numericCast(flags))
}
