import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Facts about the build of this program and its system.
enum ProgramFacts {
    /// The build configuration.
    static var build: String {
        #if DEBUG
            "debug: the figures mean nothing"
        #else
            "release"
        #endif
    }

    /// The compiler's version, which only conditional compilation reveals.
    static var swift: String {
        #if compiler(>=6.5)
            "6.5 or later"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }

    /// The kernel and the architecture.
    static var kernel: String {
        var names = utsname()
        guard uname(&names) == 0 else { return "unknown" }
        return [text(names.sysname), text(names.release), text(names.machine)].joined(separator: " ")
    }

    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
