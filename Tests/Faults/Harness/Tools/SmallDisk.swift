import Foundation
import TestSupport

/// A small file system in memory that can be filled to its last byte.
struct SmallDisk: Sendable {
    /// The mount point.
    let path: String

    /// Mounts one with this many megabytes, unmounted with the scenario.
    init(_ context: ScenarioContext, megabytes: Int) throws {
        let path = context.directory + "/disk"
        self.path = path
        try Shell.run("mkdir -p \(path) && mount -t tmpfs -o size=\(megabytes)m tmpfs \(path)")
        // Lazily, because a server that is killed a moment later may still have open files.
        context.atEnd { _ = try? Shell.run("umount -l \(path)") }
    }

    /// Fills it completely.
    func fill() throws {
        try Shell.run("dd if=/dev/zero of=\(path)/filler bs=4096 oflag=append conv=notrunc 2>/dev/null || true")
    }

    /// Frees the space.
    func free() throws { try Shell.run("rm -f \(path)/filler") }
}
