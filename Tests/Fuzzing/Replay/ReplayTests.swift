import Foundation
import FuzzTargets
import Testing

/// Checks every kept input, including those that once broke a parser.
@Suite struct ReplayTests {
    private static let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Corpus")

    @Test(arguments: FuzzTarget.all.map(\.name)) func `the kept inputs find nothing`(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let files = try FileManager.default.contentsOfDirectory(
            at: Self.corpus.appending(path: name),
            includingPropertiesForKeys: nil
        )
        #expect(files.count >= 20)
        for file in files {
            let input = [UInt8](try Data(contentsOf: file))
            #expect(throws: Never.self, "\(name)/\(file.lastPathComponent)") { try target.check(input) }
        }
    }
}
