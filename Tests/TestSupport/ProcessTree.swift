import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The tree of the system's processes.
package enum ProcessTree {
    private struct Entry {
        let pid: Int32
        let parent: Int32
        let isAlive: Bool
    }

    /// All processes, including zombies.
    private static var all: [Entry] {
        #if os(Linux)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return names.compactMap { Int32($0) }.compactMap(entry)
        #else
            let ps = Process()
            ps.executableURL = URL(fileURLWithPath: "/bin/ps")
            ps.arguments = ["-axo", "pid=,ppid=,stat="]
            let output = Pipe.forOneChild()
            ps.standardOutput = output
            guard (try? ps.start()) != nil else { return [] }
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            return text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                guard words.count == 3, let pid = Int32(words[0]), let parent = Int32(words[1]) else { return nil }
                return Entry(pid: pid, parent: parent, isAlive: !words[2].hasPrefix("Z"))
            }
        #endif
    }

    #if os(Linux)
        private static func entry(_ pid: Int32) -> Entry? {
            guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
            // The name in parentheses may contain any character, so the fields start after the last parenthesis.
            let text = String(decoding: data, as: UTF8.self)
            guard let end = text.lastIndex(of: ")") else { return nil }
            let words = text[text.index(after: end)...].split(separator: " ")
            guard words.count > 2, let parent = Int32(words[1]) else { return nil }
            return Entry(pid: pid, parent: parent, isAlive: words[0] != "Z" && words[0] != "X")
        }
    #endif

    /// Returns the live descendants of a process.
    package static func descendants(of root: Int32) -> [Int32] {
        let all = all
        var found: [Int32] = []
        var parents: Set<Int32> = [root]
        while !parents.isEmpty {
            let children = all.filter { parents.contains($0.parent) && $0.isAlive }.map(\.pid)
            parents = Set(children).subtracting(found)
            found += parents
        }
        return found
    }

    /// Returns whether a process is alive.
    package static func isAlive(_ pid: Int32) -> Bool { all.contains { $0.pid == pid && $0.isAlive } }
}
