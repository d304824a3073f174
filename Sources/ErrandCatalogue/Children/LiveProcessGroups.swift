import Foundation

/// The process groups that have a member that has not ended.
///
/// Signal 0 does not show this: it also reaches zombies, and the ended leader of a group remains one so that its number
/// is not reused.
struct LiveProcessGroups {
    private let groups: Set<pid_t>?

    /// Scans all processes. Each costs some microseconds, so it runs only while a group is being stopped.
    init() {
        groups = Self.scan()
    }

    /// Returns whether a member of the group has not ended. If the system does not provide this, one is assumed to live
    /// until the group was killed.
    func contains(_ group: pid_t, afterKill: Bool) -> Bool {
        groups?.contains(group) ?? !afterKill
    }

    private static func scan() -> Set<pid_t>? {
        #if os(Linux)
            guard let folder = opendir("/proc") else { return nil }
            defer { closedir(folder) }
            var groups: Set<pid_t> = []
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                    name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if let group = pid_t(name).flatMap(liveGroup) { groups.insert(group) }
            }
            return groups
        #else
            return nil
        #endif
    }

    /// Returns the process group of a process that has not ended.
    private static func liveGroup(of pid: pid_t) -> pid_t? {
        let file = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let text = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
            let count = read(file, buffer.baseAddress, buffer.count)
            return Array(buffer.prefix(max(count, 0)))
        }
        // "pid (name) state parent group …"; the name may contain any character.
        guard let nameEnd = text.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = text[(nameEnd + 1)...].split(separator: UInt8(ascii: " "), maxSplits: 3)
        guard fields.count == 4, let state = fields[0].first, !"ZXx".utf8.contains(state) else { return nil }
        return pid_t(String(decoding: fields[2], as: UTF8.self))
    }
}
