import Foundation

/// A rewriter of the command line for cases that the argument parser does not support.
enum ArgumentSpelling {
    /// The value of `--wait` without a limit.
    static let forever = "forever"

    /// Rewrites arguments that the parser does not support.
    ///
    /// - `--wait` becomes `--wait=forever`, or `--wait=10s` if a duration follows, because the parser has no options
    ///   with optional values.
    /// - A negative number gets a leading space, which JSON allows, because the parser would read it as an option. A
    ///   number after an option stays as it is.
    static func normalized(_ arguments: [String]) -> [String] {
        var settled: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return settled + [argument] + rest }
            guard argument == "--wait" else {
                let isNumber = argument.prefixMatch(of: /-[0-9]/) != nil && settled.last?.hasPrefix("-") == false
                settled.append(isNumber ? " \(argument)" : argument)
                continue
            }
            // A duration is not valid JSON, so it cannot be the operation's arguments. A number is, but hardly meant to be
            // the arguments here: as a duration without a unit, it is refused.
            if let next = rest.first, next.wholeMatch(of: /[0-9]+(ms|s|m|h|d)?/) != nil {
                settled.append("--wait=\(next)")
                rest.removeFirst()
            } else {
                settled.append("--wait=\(forever)")
            }
        }
        return settled
    }
}
