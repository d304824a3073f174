import Foundation
import Testing

/// Every piece of Swift in the README and in the articles is a piece of a file that is compiled.
@Suite struct DocumentationTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func files(below folder: String, _ suffix: String) throws -> [URL] {
        let found = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        return (found?.allObjects as? [URL] ?? []).filter { $0.path.hasSuffix(suffix) && !$0.path.contains("/.build") }
    }

    /// The text without white space: where lines break is the formatter's to say.
    private static func bare(_ text: some StringProtocol) -> String { String(text.filter { !$0.isWhitespace }) }

    static let articles: [String] =
        ["README.md"]
        + ((try? files(below: "Sources", ".md")) ?? []).map { String($0.path.dropFirst(root.path.count + 1)) }.sorted()

    /// Blocks that another library compiles, that are read by a check of their own, or that only show a shape.
    private static func isElsewhere(_ block: some StringProtocol) -> Bool {
        ["// before", "// Sources/", "// Package.swift"].contains { block.hasPrefix($0) }
    }

    @Test(arguments: articles) func `every piece of Swift is compiled`(article: String) throws {
        let sources = try Self.files(below: "Examples", ".swift").map {
            Self.bare(try String(contentsOf: $0, encoding: .utf8))
        }
        let text = try String(contentsOf: Self.root.appending(path: article), encoding: .utf8)
        let pieces = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        for piece in pieces where !Self.isElsewhere(piece) {
            let bare = Self.bare(piece)
            #expect(sources.contains { $0.contains(bare) }, "not in any file of Examples: \(piece)")
        }
    }

    @Test func `there are articles`() { #expect(Self.articles.count > 8) }
}
