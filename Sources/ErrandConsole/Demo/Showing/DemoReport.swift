import ErrandOperator
import Foundation

/// The final report of the demo.
struct DemoReport {
    let result: DemoResult

    /// The figures, one per line.
    var table: String {
        let rows = [
            ("files", result.files), ("jobs accepted", result.accepted), ("dropped as duplicates", result.dropped),
            ("finished", result.finished), ("timed out", result.timedOut),
            ("recovered from the killed worker", result.recovered), ("lost", result.lost), ("wrong", result.wrong),
            ("jobs a second", result.jobsPerSecond),
        ]
        let names = rows.map(\.0.count).max() ?? 0
        let figures = rows.map(\.1.grouped.count).max() ?? 0
        return rows.map { name, figure in
            let text = figure.grouped
            return name + String(repeating: " ", count: names + 2 + figures - name.count - text.count) + text + "\n"
        }.joined()
    }

    /// The meaning of the figures, and suggestions of what to try next.
    static var suggestions: String {
        """
        Every result was compared with what the demo computed itself. A repeated push is dropped while the first job
        is unfinished, and accepted after that. The rate includes the wait for the killed worker's lease, 2 s.

        Try next:

        """ + commands
    }

    private static var commands: String {
        let commands = [
            ("errand demo --keep", "the same, and the broker stays for inspection"),
            ("errand demo YOUR-DIRECTORY", "the same with your own files"),
            ("errand-worker --help", "run operations of your own, from a catalogue"),
            ("errand-producer --help", "push jobs from the command line"),
            ("errand --help", "the operator's console: status, jobs, events, doctor"),
        ]
        let lines = commands.map { (folder + $0.0, $0.1) }
        let width = lines.map(\.0.count).max() ?? 0
        return lines.map { "  " + $0 + String(repeating: " ", count: width + 2 - $0.count) + $1 + "\n" }.joined()
    }

    /// Returns instructions for inspecting a broker that was kept.
    static func lookingAt(_ directory: String) -> String {
        """
        The broker and its workers are kept running. From another terminal:
          \(folder)errand status --embedded \(directory)
          \(folder)errand events --embedded \(directory)
          \(folder)errand-producer push checksum '{"path":"/etc/hostname"}' --queue demo --wait --embedded \(directory)
        Ctrl-C ends them. The data stays in \(directory) until you remove it.
        """
    }

    /// The folder of the executables, as this one was called, so that the commands can be copied.
    private static var folder: String {
        let called = CommandLine.arguments.first ?? ""
        return called.lastIndex(of: "/").map { String(called[...$0]) } ?? ""
    }
}
