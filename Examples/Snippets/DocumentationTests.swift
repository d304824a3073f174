import Errand
import ErrandCatalogue
import Foundation
import Testing

/// Every piece of Swift in the README, the articles, docs/ and comments is a piece of a file that is compiled.
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
        + (((try? files(below: "Sources", ".md")) ?? []) + ((try? files(below: "docs", ".md")) ?? [])).map {
            String($0.path.dropFirst(root.path.count + 1))
        }.sorted()

    /// Blocks that another library compiles, that are read by a check of their own, or that only show a shape.
    private static func isElsewhere(_ block: some StringProtocol) -> Bool {
        ["// before", "// Sources/", "// Package.swift"].contains { block.hasPrefix($0) }
    }

    private static func compiled() throws -> [String] {
        try files(below: "Examples", ".swift").map { bare(try String(contentsOf: $0, encoding: .utf8)) }
    }

    /// The text of a file's documentation comments.
    private static func comments(_ file: URL) throws -> String {
        try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("///") }.map { $0.dropFirst(4) }.joined(separator: "\n")
    }

    /// Holds every piece of Swift in a text to what is compiled, and counts them.
    private static func check(_ text: String, _ name: String, _ sources: [String]) -> Int {
        let pieces = text.components(separatedBy: "```swift\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        for piece in pieces where !isElsewhere(piece) {
            let bare = bare(piece)
            #expect(sources.contains { $0.contains(bare) }, "\(name): not in any file of Examples: \(piece)")
        }
        return pieces.count
    }

    @Test(arguments: articles) func `every piece of Swift is compiled`(article: String) throws {
        let text = try String(contentsOf: Self.root.appending(path: article), encoding: .utf8)
        _ = Self.check(text, article, try Self.compiled())
    }

    @Test func `every piece of Swift in a comment is compiled`() throws {
        let sources = try Self.compiled()
        let counts = try Self.files(below: "Sources", ".swift").map {
            Self.check(try Self.comments($0), $0.lastPathComponent, sources)
        }
        #expect(counts.reduce(0, +) > 40)
    }

    @Test(arguments: ["README.md", "docs/catalogue.md"]) func `a catalogue that is shown can be read`(
        article: String
    ) throws {
        let text = try String(contentsOf: Self.root.appending(path: article), encoding: .utf8)
        let pieces = text.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(!pieces.isEmpty)
        for piece in pieces { #expect(try !Catalogue(yaml: piece, source: article).operations.isEmpty) }
    }

    @Test func `a workflow that is shown can be read`() throws {
        let article = "docs/workflows.md"
        let text = try String(contentsOf: Self.root.appending(path: article), encoding: .utf8)
        let pieces = text.components(separatedBy: "```yaml\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(!pieces.isEmpty)
        for piece in pieces { #expect(try !WorkflowFile.parse(Array(piece.utf8), source: article).jobs.isEmpty) }
    }

    @Test func `there are articles`() { #expect(Self.articles.count > 16) }
}
