import Foundation
import TestSupport
import Testing

/// Files to work on, and a directory for temporary files of the demo's own, so that what it leaves is seen.
struct DemoPlace {
    let root: String
    /// What the demo works on.
    var files: String { root + "/files" }
    /// Where its temporary files go.
    var temporary: String { root + "/tmp" }

    /// Makes so many small files.
    init(files count: Int) throws {
        // Short, as sockets go there.
        root = "/tmp/errand-demo-test-\(UInt32.random(in: 0 ... .max))"
        for directory in [root, files, temporary] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        for number in 0..<count { try write(String(repeating: "\(number) ", count: number % 97), to: file(number)) }
    }

    /// Writes a file without waiting for the disk, as there are many.
    func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        try #require(fputs(text, file) >= 0)
    }

    /// A file; their order by name is that of their numbers.
    func file(_ number: Int) -> String { files + "/\(10_000 + number).txt" }

    /// Removes everything, and ends what a test that failed has left.
    func remove() {
        for process in found() { kill(process.pid, SIGKILL) }
        try? FileManager.default.removeItem(atPath: root)
    }

    /// What lies where temporary files go.
    func temporaryFiles() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? ["?"] }

    /// The command lines of living processes that mention this place.
    func processes() -> [String] { found().map(\.line) }

    private func found() -> [(pid: Int32, line: String)] {
        #if os(Linux)
            let pids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { Int32($0) }
            let all = pids.map { pid in
                let words = FileManager.default.contents(atPath: "/proc/\(pid)/cmdline") ?? Data()
                return (pid: pid, line: String(decoding: words.map { $0 == 0 ? 32 : $0 }, as: UTF8.self))
            }
        #else
            let all = listing().split(separator: "\n").compactMap { line -> (pid: Int32, line: String)? in
                line.split(separator: " ").first.flatMap { Int32($0) }.map { ($0, String(line)) }
            }
        #endif
        return all.filter { $0.line.contains(root) }
    }

    #if !os(Linux)
        private func listing() -> String {
            let listing = Process()
            listing.executableURL = URL(fileURLWithPath: "/bin/ps")
            listing.arguments = ["-axo", "pid=,command="]
            let output = Pipe.forOneChild()
            listing.standardOutput = output
            guard (try? listing.run()) != nil else { return "" }
            return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        }
    #endif

    /// Waits until no process mentions this place.
    func awaitNoProcesses() -> Bool {
        let deadline = Date() + 15
        while !processes().isEmpty {
            guard Date() < deadline else { return false }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return true
    }
}
