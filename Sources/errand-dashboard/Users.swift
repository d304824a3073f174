import Crypto
import ErrandCommandLine
import ErrandDashboard
import Foundation
import HTTPTypes
import Hummingbird

/// Who may see the pages: names and passwords.
struct Users: Sendable {
    /// What somebody may who did not say who they are.
    static let stranger = DashboardAccess.none(challenge: #"Basic realm="Errand", charset="UTF-8""#)

    /// Passwords are kept as digests, so that comparing them takes the same time however much of one is right.
    private let digests: [String: SHA256.Digest]

    /// One user.
    init(_ name: String, password: String) { digests = [name: Self.digest(password[...])] }

    /// Reads a file.
    ///
    /// - Throws: `CommandFailure` when it cannot be read, when others can read it, and when a line is not
    ///   `name:password`.
    init(file path: String) throws(CommandFailure) {
        // Of the file itself: where secrets are mounted, the path is a link.
        let file = URL(filePath: path).resolvingSymlinksInPath().path
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        if let mode = attributes?[.posixPermissions] as? Int, mode & 0o077 != 0 {
            throw CommandFailure(
                "\(path) holds passwords, and others can read it: chmod 600 \(path)",
                ExitStatus.badConfiguration
            )
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure("cannot read the users file \(path)", ExitStatus.badConfiguration)
        }
        var digests: [String: SHA256.Digest] = [:]
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("#") { continue }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, line[colon...].count > 1 else {
                throw CommandFailure("line \(number + 1) of \(path) is not name:password", ExitStatus.badConfiguration)
            }
            digests[String(line[..<colon])] = Self.digest(line[line.index(after: colon)...])
        }
        if digests.isEmpty { throw CommandFailure("\(path) names nobody", ExitStatus.badConfiguration) }
        self.digests = digests
    }

    /// Who sent a request; `nil` when it does not say, or says something wrong.
    func user(of request: Request) async -> String? {
        guard let header = request.headers[.authorization], header.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        let name = String(text[..<colon])
        let given = Self.digest(text[text.index(after: colon)...])
        let isRight = (digests[name] ?? Self.digest("")) == given && digests[name] != nil
        if isRight { return name }
        // Whoever tries many has to wait for each.
        try? await Task.sleep(for: .milliseconds(500))
        return nil
    }

    private static func digest(_ password: Substring) -> SHA256.Digest { SHA256.hash(data: Data(password.utf8)) }
}
