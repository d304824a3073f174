import Foundation

/// Gives `--wait` the value that it may be written without, since the parser knows no options with values left out.
enum WaitSpelling {
    /// What stands for no limit.
    static let forever = "forever"

    /// The arguments with `--wait` spelled as `--wait=forever`, or as `--wait=10s` where a duration follows it.
    static func settled(_ arguments: [String]) -> [String] {
        var settled: [String] = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            if argument == "--" { return settled + [argument] + rest }
            guard argument == "--wait" else {
                settled.append(argument)
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
