import Foundation

/// Spells arguments so that the parser understands them.
enum ArgumentSpelling {
    /// What stands for no limit.
    static let forever = "forever"

    /// The arguments with what the parser does not know put into other words.
    ///
    /// - `--wait` becomes `--wait=forever`, or `--wait=10s` where a duration follows it: the parser knows no options
    ///   with values left out.
    /// - A negative number gets a blank in front, which JSON allows: the parser would take it for an option. After an
    ///   option it stays as it is.
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
            // A duration is no JSON, so it cannot be meant as the operation's arguments.
            if let next = rest.first, next.wholeMatch(of: /[0-9]+(ms|s|m|h|d)/) != nil {
                settled.append("--wait=\(next)")
                rest.removeFirst()
            } else {
                settled.append("--wait=\(forever)")
            }
        }
        return settled
    }
}
