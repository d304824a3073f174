import Crypto
import Foundation
import Testing

@testable import ErrandText

/// SHA-1 and SHA-256 beside the examples of FIPS 180-4 and another library.
@Suite struct DigestTests {
    @Test(arguments: [
        (
            "", "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        ),
        (
            "abc", "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ]) func `the standard's examples`(text: String, sha1: String, sha256: String) {
        #expect(ErrandText.SHA1.hex(text.utf8) == sha1)
        #expect(ErrandText.SHA256.hex(text.utf8) == sha256)
    }

    @Test func `every length around the blocks agrees with another library`() {
        var generator = SystemRandomNumberGenerator()
        for length in Array(0...200) + [1000, 65_537] {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(ErrandText.SHA1.hash(bytes) == Array(Insecure.SHA1.hash(data: bytes)), "\(length)")
            #expect(ErrandText.SHA256.hash(bytes) == Array(Crypto.SHA256.hash(data: bytes)), "\(length)")
        }
    }

    @Test func `parts are the same as the whole`() {
        let bytes = (0..<500).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for cut in stride(from: 0, through: 500, by: 13) {
            var digest = ErrandText.SHA256()
            digest.update(bytes[..<cut])
            digest.update(bytes[cut...])
            #expect(digest.finish() == ErrandText.SHA256.hash(bytes))
        }
    }
}
