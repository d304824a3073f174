import Foundation
import TestSupport

/// Processes whose clock is another one, by libfaketime.
enum Faketime {
    /// Where Debian, Ubuntu and others keep the library.
    private static let library: String? = {
        let text = try? Shell.run(
            "ls /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1 2>/dev/null || true"
        )
        return text?.split(whereSeparator: \.isNewline).first.map(String.init)
    }()

    /// The environment of a process with such a clock, for instance `+1h`, `-5m` or `+1h x1.5`.
    static func environment(_ clock: String) throws -> [String: String] {
        guard let library else { throw TestFailure("libfaketime is not installed") }
        return ["LD_PRELOAD": library, "FAKETIME": clock]
    }
}
