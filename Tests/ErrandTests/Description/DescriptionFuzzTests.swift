import Errand
import TestSupport
import Testing

/// No input may trap, and accepted input can be written and read again.
@Suite struct DescriptionFuzzTests {
    static let pieces: [String] = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "d800", "\\udc00", "0", "-", "1", "9", ".", "e", "E", "+",
        "true", "false",
        "null", " ", "\n", "\u{0}", "é", "😀", "\"operation\":\"a\"", "\"v\":1", "\"unique\":\"drop\"", "\"arguments\":",
        "\"name\":\"",
        "\"timeout_ms\":", "\"meta\":{", "\"id\":", "99999999999999999999", "i", "1d5;;;",
    ]

    @Test func `random bytes and random pieces never trap`() {
        var random = SeededRandom(seed: 1)
        var accepted = 0
        for round in 0..<200_000 {
            var input: [UInt8] = []
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                if round.isMultiple(of: 2) {
                    input.append(UInt8.random(in: .min ... .max, using: &random))
                } else {
                    input.append(contentsOf: (Self.pieces.randomElement(using: &random) ?? "").utf8)
                }
            }
            if isReadableAgain(round.isMultiple(of: 3) ? Array("{\"operation\":\"a\",".utf8) + input + [0x7D] : input) {
                accepted += 1
            }
        }
        #expect(accepted > 0)
    }

    @Test func `changed descriptions never trap`() throws {
        var random = SeededRandom(seed: 2)
        let valid = try Vector.load("valid").map { try $0.bytes() }.filter { $0.count < 2000 }
        var accepted = 0
        for _ in 0..<20_000 {
            let input = mutated(try #require(valid.randomElement(using: &random)), using: &random)
            if isReadableAgain(input) { accepted += 1 }
        }
        #expect((1..<20_000).contains(accepted))
    }

    @Test func `changed stored jobs never trap`() throws {
        var random = SeededRandom(seed: 3)
        let valid = try Vector.load("valid").filter { $0.parts == nil }.map { vector in
            try OperationDescription(json: vector.bytes()).makeEnvelope().stored(readySince: 1_795_215_724_000)
        }
        var refused = 0
        for _ in 0..<20_000 {
            let input = mutated(try #require(valid.randomElement(using: &random)), using: &random)
            if (try? JobEnvelope.read(stored: input)) == nil { refused += 1 }
        }
        #expect((1..<20_000).contains(refused))
    }

    @Test func `every truncated stored job is rejected`() throws {
        let stored = try OperationDescription("a", unique: .drop, retries: 3).makeEnvelope().stored(readySince: 0)
        for count in 0..<stored.count {
            #expect(throws: EnvelopeError.self) { try JobEnvelope.read(stored: stored.prefix(count)) }
        }
        #expect(try JobEnvelope.read(stored: stored).retries == 3)
    }

    /// Returns whether the input is accepted; it must then survive being written, and have one canonical form.
    private func isReadableAgain(_ input: [UInt8]) -> Bool {
        _ = try? JobEnvelope.read(stored: input)
        guard let description = try? OperationDescription(json: input) else { return false }
        let canonical = description.arguments.canonical
        #expect(canonical.canonical == canonical)
        #expect((try? JSONText(validating: canonical.bytes)) == canonical)
        #expect((try? OperationDescription(json: description.encoded())) == description)
        return true
    }

    private func mutated(_ bytes: [UInt8], using random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: (Self.pieces.randomElement(using: &random) ?? "").utf8, at: place)
            case 3: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...20, using: &random)))
            }
        }
        return bytes
    }
}
