public import Foundation

/// Where photos are: a directory that server and workers see. In a real deployment that is an object store.
public struct PhotoStore: Sendable {
    private let originals: URL
    private let versions: URL

    /// Opens the store in a directory, and makes what is missing.
    public init(_ directory: URL) throws {
        originals = directory.appending(path: "originals")
        versions = directory.appending(path: "versions")
        for folder in [originals, versions] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    /// The original of a photo.
    public func original(_ photo: String) -> URL { originals.appending(path: photo) }

    /// A version of a photo.
    public func version(_ photo: String, _ size: Int) -> URL { versions.appending(path: "\(photo)-\(size).jpg") }

    /// A name for a file that is not complete yet, beside where it will be.
    public func unfinished() -> URL { originals.appending(path: ".\(UUID().uuidString)") }

    /// Puts a complete file where others see it, at once and as a whole.
    public func publish(_ file: URL, as target: URL) throws {
        guard rename(file.path, target.path) == 0 else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: target.path])
        }
    }

    /// Whether a text can be the name of a photo, and nothing else of the file system.
    public static func isPhoto(_ name: String) -> Bool {
        name.utf8.count == 32 && name.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || ($0 >= 97 && $0 <= 102) }
    }
}
