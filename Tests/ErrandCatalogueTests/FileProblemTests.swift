import ErrandText
import Foundation
import Testing

/// The words for what the system refuses.
@Suite struct FileProblemTests {
    #if os(Linux)
        @Test func `a full disk is named as such, however deep Foundation hides it`() {
            let error = #expect(throws: (any Error).self) {
                try Data([1]).write(to: URL(fileURLWithPath: "/dev/full"))
            }
            #expect(error.map(FileProblem.words(for:)) == "the disk is full")
            #expect(error.map(FileProblem.isOutOfSpace) == true)
        }
    #endif

    @Test func `no words of Foundation's reach a person`() {
        let places = ["/nowhere/file", "/etc/passwd/file", "/", String(repeating: "x", count: 300)]
        for place in places {
            for options in [Data.WritingOptions(), .atomic] {
                let error = #expect(throws: (any Error).self) {
                    try Data([1]).write(to: URL(fileURLWithPath: place), options: options)
                }
                let words = error.map(FileProblem.words(for:)) ?? ""
                #expect(!words.isEmpty && !words.contains("Cocoa") && !words.contains("couldn"), "\(place): \(words)")
            }
        }
    }

    @Test func `a mark in front of a text is no part of it`() {
        #expect(TextEncoding.withoutMark("\u{FEFF}a\u{FEFF}") == "a\u{FEFF}")
        #expect(TextEncoding.withoutMark([0xEF, 0xBB, 0xBF, 0x61]) == [0x61])
        #expect(TextEncoding.withoutMark([0xEF, 0xBB]) == [0xEF, 0xBB])
        #expect(TextEncoding.objection(to: Array("{}".utf8)) == nil)
        #expect(TextEncoding.objection(to: [0x7B, 0x00]) != nil)
    }
}
