import Foundation
import TestSupport
import Testing

/// Files for the demo, and a separate directory for its temporary files, so that leftovers are detected.
struct DemoPlace {
    let root: String
    /// The files for the demo.
    var files: String { root + "/files" }
    /// The directory for its temporary files.
    var temporary: String { root + "/tmp" }

    /// Creates this many small files.
    init(files count: Int) throws {
        // Short, because sockets are created there.
        root = "/tmp/errand-demo-test-\(UInt32.random(in: 0 ... .max))"
        for directory in [root, files, temporary] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        for number in 0..<count { try write(String(repeating: "\(number) ", count: number % 97), to: file(number)) }
    }

    /// Writes a file without waiting for the disk, because there are many.
    func write(_ text: String, to path: String) throws {
        let file = try #require(fopen(path, "w"))
        defer { fclose(file) }
        try #require(fputs(text, file) >= 0)
    }

    /// A file; the order of the names is that of the numbers.
    func file(_ number: Int) -> String { files + "/\(10_000 + number).txt" }

    /// Removes everything, and ends processes that a failed test has left.
    func remove() {
        for process in found() { kill(process.pid, SIGKILL) }
        try? FileManager.default.removeItem(atPath: root)
    }

    /// The contents of the directory for temporary files.
    func temporaryFiles() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: temporary)) ?? ["?"] }

    /// The command lines of live processes that contain this path.
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

    /// Waits until no command line contains this path.
    func awaitNoProcesses() -> Bool {
        let deadline = Date() + 15
        while !processes().isEmpty {
            guard Date() < deadline else { return false }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return true
    }
}
