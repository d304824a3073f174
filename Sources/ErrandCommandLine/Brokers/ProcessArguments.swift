#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The arguments of the process as other users of the machine see them.
package enum ProcessArguments {
    /// Overwrites the passwords of broker URLs in the arguments that the system shows; the program's own copy keeps
    /// them.
    ///
    /// Must be called first, before another thread can read the arguments. It has no effect on systems that keep their
    /// own copy, such as macOS: put passwords into `ERRAND_REDIS_URL`.
    package static func hidePasswords() {
        // After the first access, the program's copy does not change.
        _ = CommandLine.arguments
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let argument = CommandLine.unsafeArgv[index] else { continue }
            let text = UnsafeMutableBufferPointer(start: argument, count: strlen(argument))
            guard let password = passwordRange(in: text.map { UInt8(bitPattern: $0) }) else { continue }
            for place in password { text[place] = CChar(UInt8(ascii: "*")) }
        }
    }

    /// Returns the range of the password in an argument such as `--redis=redis://user:password@host`; of credentials
    /// without a colon, the whole range.
    ///
    /// A password that is not percent-encoded may contain an `@` or a slash: the URL is refused, but visible until
    /// then.
    static func passwordRange(in argument: some RandomAccessCollection<UInt8>) -> Range<Int>? {
        let argument = Array(argument)
        guard let mark = argument.firstRange(of: Array("://".utf8)) else { return nil }
        let rest = argument[mark.upperBound...]
        let authority = rest.prefix { $0 != UInt8(ascii: "/") }
        let (at, colon) = (UInt8(ascii: "@"), rest.firstIndex(of: UInt8(ascii: ":")))
        // Only a port may follow the host's colon; any other text is part of a password.
        let isCutOff = colon.map { $0 < authority.endIndex && !authority[($0 + 1)...].allSatisfy(\.isDigit) } ?? false
        guard let end = authority.lastIndex(of: at) ?? (isCutOff ? rest.lastIndex(of: at) : nil) else { return nil }
        return (colon.flatMap { $0 < end ? $0 + 1 : nil } ?? rest.startIndex)..<end
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
