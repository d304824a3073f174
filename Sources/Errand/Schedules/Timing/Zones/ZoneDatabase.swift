import Foundation

/// The system's time zone database: a directory with a file for each name.
struct ZoneDatabase: Sendable {
    /// The directories to search, in this order.
    let directories: [String]

    /// The usual directories of systems, or `TZDIR` as for the C library.
    static let system = ZoneDatabase(environment: ProcessInfo.processInfo.environment)

    init(environment: [String: String]) {
        let usual = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"]
        directories = environment["TZDIR"].flatMap { $0.isEmpty ? nil : [$0] } ?? usual
    }

    /// The maximum size of a zone's file in bytes; the largest one has about 4,000.
    private static let mostBytes = 1 << 16
    /// The maximum length of a name in bytes.
    private static let longestName = 64

    /// Returns whether a text may be the name of a zone. Names are untrusted and become paths, which must not lead out
    /// of the database: they are components of letters, digits and `+ - _ .` separated by slashes, none of which begins
    /// with a dot.
    static func isName(_ text: String) -> Bool {
        text.utf8.count <= longestName
            && text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy(isPart)
    }

    private static func isPart(_ bytes: Substring.UTF8View) -> Bool {
        guard let first = bytes.first, first != UInt8(ascii: ".") else { return false }
        return bytes.allSatisfy { isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || "+-_.".utf8.contains($0) }
    }

    /// Returns the clocks of a zone.
    func zone(_ name: String) throws(ScheduleError) -> ZoneFile {
        guard Self.isName(name) else {
            throw Self.refusal(name, "is no name of a time zone; write an IANA name such as Europe/Berlin, or UTC")
        }
        guard let bytes = directories.lazy.compactMap({ Self.bytes(of: "\($0)/\(name)") }).first else {
            throw isThere ? unknown(name) : missing(name)
        }
        do throws(ZoneFile.Fault) { return try ZoneFile(bytes) } catch {
            switch error {
            case .notAZone: throw unknown(name)
            case .damaged: throw Self.refusal(name, "is damaged in this host's time zone database; install it again")
            case .countsLeapSeconds:
                throw Self.refusal(name, "counts leap seconds, which schedules do not; write it without \"right/\"")
            }
        }
    }

    private var isThere: Bool { directories.contains { FileManager.default.fileExists(atPath: $0) } }

    private func unknown(_ name: String) -> ScheduleError {
        let place = directories.joined(separator: ", ")
        return ScheduleError(
            .unknownTimeZone,
            "time_zone",
            "\"\(name)\" is not in this host's time zone database (\(place)); write an IANA name such as Europe/Berlin "
                + "(case matters), or UTC. Some systems have older names in a package tzdata-legacy"
        )
    }

    private func missing(_ name: String) -> ScheduleError {
        ScheduleError(
            .unknownTimeZone,
            "time_zone",
            "\"\(name)\" cannot be looked up: this host has no time zone database (\(directories.joined(separator: ", "))); "
                + "install the package tzdata, or set TZDIR to its directory. UTC needs none"
        )
    }

    private static func refusal(_ name: String, _ reason: String) -> ScheduleError {
        ScheduleError(.invalid, "time_zone", "\"\(name.prefix(longestName))\" \(reason)")
    }

    /// Returns the content of a regular file of limited size.
    private static func bytes(of path: String) -> [UInt8]? {
        // A pipe at that path must not block.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= mostBytes else {
            return nil
        }
        return (try? file.read(upToCount: mostBytes)).map { Array($0) }
    }
}
