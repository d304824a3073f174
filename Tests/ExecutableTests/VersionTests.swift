import ErrandCommandLine
import Foundation
import Testing

/// `--version` of the executables.
@Suite struct VersionTests {
    private static let changes = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "CHANGELOG.md")

    @Test(arguments: [Executable.producer, .worker, .console, .dashboard])
    func everyExecutablePrintsItsVersion(_ executable: Executable) async throws {
        let output = try await executable.run(["--version"])
        #expect(output.status == 0)
        #expect(output.lines == [ErrandVersion.current])
        #expect(output.error.isEmpty)
    }

    @Test func itIsTheNewestOneOfTheChangelog() throws {
        let text = try String(contentsOf: Self.changes, encoding: .utf8)
        let heading = try #require(text.split(separator: "\n").first { $0.hasPrefix("## ") }).dropFirst(3)
        if heading == "Unreleased" {
            #expect(ErrandVersion.current.hasSuffix("-dev"))
        } else {
            #expect(heading == ErrandVersion.current || heading.hasPrefix("\(ErrandVersion.current) "))
        }
    }
}
