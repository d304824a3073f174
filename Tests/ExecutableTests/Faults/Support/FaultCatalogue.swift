import Foundation

/// The operations of the fault tests: shells that record when they begin and end.
///
/// A line is one `write` to a file opened with O_APPEND, so the ledger has the true order.
enum FaultCatalogue {
    private static let begin = #"echo "begin $ERRAND_JOB_ID $ERRAND_TOKEN $0" >> "$1""#
    private static let end = #"echo "end $ERRAND_JOB_ID $ERRAND_TOKEN $0" >> "$1"; echo done"#

    /// Writes the catalogue and returns its path.
    ///
    /// - `note` sleeps for `{seconds}`, `mark` does not, `gate` runs until the gate's file exists, `fail` fails,
    ///   `family` starts children and prints their ids.
    static func write(to directory: String, queue: String, ledger: String, gate: String) throws -> String {
        let operations: [(name: String, script: String, text: String, more: String, timeout: String)] = [
            ("note", #"\#(begin); sleep "$2"; \#(end)"#, "-", "{seconds}", "10s"),
            ("mark", "\(begin); \(end)", "-", "-", "10s"),
            ("gate", #"\#(begin); while [ ! -e "$2" ]; do sleep 0.02; done; \#(end)"#, "{text}", gate, "60s"),
            ("fail", #"\#(begin); exit 1"#, "-", "-", "10s"),
            (
                "family",
                #"sh -c "sleep 1000 & echo grandchild \$! >> $1; wait" & echo "child $!" >> "$1"; \#(begin); wait"#,
                "-", "-", "60s"
            ),
        ]
        let text = operations.map { operation in
            """
              \(operation.name):
                run: [sh, -c, '\(operation.script)', '\(operation.text)', '\(ledger)', '\(operation.more)']
                timeout: \(operation.timeout)
                retries: 0
                queue: \(queue)

            """
        }
        let path = directory + "/catalogue.yaml"
        try ("operations:\n" + text.joined()).write(toFile: path, atomically: true, encoding: .utf8)
        return path
    }
}
