#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What other users of the machine see of a process's arguments.
package enum ProcessTitle {
    /// Overwrites the passwords of broker URLs in the arguments that the system shows; the program's own copy keeps
    /// them.
    ///
    /// To be called first thing, before another thread can look at the arguments. Where the system keeps a copy of its
    /// own (macOS does), nothing changes there: `ERRAND_REDIS_URL` is the place for a password.
    package static func hidePasswords() {
        // Read once, the program's copy stays as it was.
        _ = CommandLine.arguments
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let text = UnsafeMutableBufferPointer(start: argument, count: strlen(argument))
            guard let password = passwordRange(in: text.map { UInt8(bitPattern: $0) }) else { continue }
            for place in password { text[place] = CChar(UInt8(ascii: "*")) }
        }
    }

    /// Where the password is in an argument such as `--redis=redis://user:password@host`.
    static func passwordRange(in argument: [UInt8]) -> Range<Int>? {
        let mark = Array("://".utf8)
        guard let scheme = argument.firstRange(of: mark) else { return nil }
        // A path may hold an @ too, but the host's comes before it; a password may hold one, so the last one before the
        // path.
        let authority = argument[scheme.upperBound...].prefix { $0 != UInt8(ascii: "/") }
        guard let end = authority.lastIndex(of: UInt8(ascii: "@")),
            let colon = authority[..<end].firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return colon + 1..<end
    }
}
