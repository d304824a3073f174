import Crypto
import ErrandCommandLine
import ErrandText
import Foundation

/// The users with their passwords, and which of them may only read.
struct Users: Sendable {
    /// Passwords are kept as digests, so that a comparison takes the same time however much of a password is right.
    private var digests: [String: Crypto.SHA256.Digest] = [:]
    private var readers: Set<String> = []
    /// The file that names the users, if there is one.
    private var path: String?
    private static let mostBytes = 1 << 20

    /// Makes an empty set of users.
    init() {}

    /// Reads a file of users.
    ///
    /// - Throws: `CommandFailure` if the file cannot be read, if other users of the system can read it, or if a line is
    ///   not `name:password`.
    init(file path: String) throws(CommandFailure) {
        self.path = path
        // Checks the file itself: mounted secrets are often symbolic links.
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        if let mode = attributes?[.posixPermissions] as? Int, mode & 0o077 != 0 {
            throw CommandFailure(
                "\(path) holds passwords, and others can read it: chmod 600 \(path)",
                ExitStatus.badConfiguration
            )
        }
        let bytes: [UInt8]
        do throws(TextFile.Problem) { bytes = try TextFile.read(path, atMost: Self.mostBytes) } catch {
            throw CommandFailure("the users file \(path) \(error)", ExitStatus.badConfiguration)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure("the users file \(path) is not UTF-8; save it as UTF-8", ExitStatus.badConfiguration)
        }
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") { continue }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, line[colon...].count > 1 else {
                throw CommandFailure("line \(number + 1) of \(path) is not name:password", ExitStatus.badConfiguration)
            }
            add(String(line[..<colon]), password: line[line.index(after: colon)...])
        }
        if isEmpty { throw CommandFailure("\(path) names no users", ExitStatus.badConfiguration) }
    }

    /// Whether there are no users.
    var isEmpty: Bool { digests.isEmpty }

    /// Adds a user, or changes a user's password.
    mutating func add(_ name: String, password: Substring) { digests[name] = Self.digest(password) }

    /// Adds a user who may only read.
    mutating func addReader(_ name: String, password: Substring) {
        add(name, password: password)
        readers.insert(name)
    }

    /// Restricts a user to reading.
    ///
    /// - Throws: `CommandFailure` if there is no such user: a misspelled name would leave the intended user with all
    ///   permissions.
    mutating func restrict(_ name: String) throws(CommandFailure) {
        guard digests[name] != nil else {
            throw CommandFailure(
                "--reader \(name): there is no such user; " + remedy(name),
                ExitStatus.badConfiguration
            )
        }
        readers.insert(name)
    }

    private func remedy(_ name: String) -> String {
        path.map { "add a line \(name):password to \($0)" } ?? "it names a user of a file: give one with --users FILE"
    }

    /// Returns whether a user may only read.
    func readsOnly(_ name: String) -> Bool { readers.contains(name) }

    /// Returns whether the credentials are those of a user.
    func know(_ given: Credentials) -> Bool {
        let digest = Self.digest(given.password)
        return (digests[given.name] ?? Self.digest("")) == digest && digests[given.name] != nil
    }

    private static func digest(_ password: Substring) -> Crypto.SHA256.Digest {
        Crypto.SHA256.hash(data: Data(password.utf8))
    }
}
