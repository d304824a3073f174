#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Descriptions of file errors, for people.
package enum FileProblem {
    /// Returns the description of a value of `errno`.
    package static func words(for code: Int32) -> String {
        switch code {
        case ENOENT: "there is no such file or directory"
        case EACCES, EPERM: "this user does not have permission"
        case EISDIR: "it is a directory, not a file"
        case ENOTDIR: "a part of its path is not a directory"
        case ELOOP: "its symbolic links lead in a circle"
        case ENOSPC: "the disk is full"
        case EDQUOT: "the disk quota is used up"
        case EROFS: "the file system is read-only"
        case ENAMETOOLONG: "its name is too long"
        case EMFILE, ENFILE: "too many files are open"
        default: String(cString: strerror(code))
        }
    }

    /// Returns the description of a Foundation error, which contains the system's error number.
    package static func words(for error: any Error) -> String {
        if let error = error as? POSIXError { return words(for: error.code.rawValue) }
        guard let error = error as? CocoaError else { return "\(error)" }
        if let cause = error.underlying as? POSIXError { return words(for: cause.code.rawValue) }
        return words(for: error.code)
    }

    private static func words(for code: CocoaError.Code) -> String {
        switch code {
        case .fileNoSuchFile, .fileReadNoSuchFile: words(for: ENOENT)
        case .fileReadNoPermission, .fileWriteNoPermission: words(for: EACCES)
        case .fileWriteOutOfSpace: words(for: ENOSPC)
        case .fileWriteVolumeReadOnly: words(for: EROFS)
        case .fileWriteFileExists: "a file is in the way"
        default: "the system gives no reason (CocoaError \(code.rawValue))"
        }
    }

    /// Returns whether the disk, and not the path, is the reason.
    package static func isOutOfSpace(_ error: any Error) -> Bool {
        [words(for: ENOSPC), words(for: EDQUOT)].contains(words(for: error))
    }
}
