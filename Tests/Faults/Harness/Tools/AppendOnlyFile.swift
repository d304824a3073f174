import Foundation
import TestSupport

/// The newest part of a killed server's append-only file.
struct AppendOnlyFile {
    private static let begin = Data("$5\r\nMULTI\r\n".utf8)
    private static let end = Data("$4\r\nEXEC\r\n".utf8)

    let path: String
    private let bytes: Data

    init(of server: RedisServer) throws {
        let directory = Self.directory(of: server) + "/"
        let parts = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.contains(".incr.") }
        guard let newest = parts.max() else { throw TestFailure("there is no append-only file in \(directory)") }
        path = directory + newest
        bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    }

    static func directory(of server: RedisServer) -> String { server.directory + "/appendonlydir" }

    /// The length of its last complete transaction, minus one byte; `nil` if there is none.
    var lastTransaction: Range<Int>? {
        guard let closed = bytes.range(of: Self.end, options: .backwards),
            let opened = bytes.range(of: Self.begin, options: .backwards, in: 0..<closed.lowerBound)
        else { return nil }
        return opened.upperBound..<closed.upperBound
    }

    /// The length after cutting off this many bytes, or half the length if there are fewer.
    func length(without count: Int) -> Int {
        bytes.count > count ? bytes.count - count : bytes.count / 2
    }

    func isAmidTransaction(at length: Int) -> Bool {
        guard let opened = bytes.range(of: Self.begin, options: .backwards, in: 0..<length) else { return false }
        return bytes.range(of: Self.end, in: opened.upperBound..<length) == nil
    }

    func truncate(to length: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.truncate(atOffset: UInt64(length))
        try file.close()
    }
}
