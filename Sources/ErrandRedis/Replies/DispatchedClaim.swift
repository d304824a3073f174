package import Errand

/// A job that a push has claimed for a session, as the message on the session's channel: `c` and the session's secret,
/// the number of the pre-answered call, the token, the id, and in the next line the stored body.
package struct DispatchedClaim {
    package let call: Int
    package let claim: Claim

    /// Parses a message; `nil` if it is invalid, or its sender does not have the secret.
    package init?(_ message: [UInt8], secret: String) {
        // The secret, two numbers of up to 20 digits, and an id of up to 64.
        guard message.first == UInt8(ascii: "c"),
            let end = message.prefix(192).firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = String(decoding: message[1..<end], as: UTF8.self).split(separator: " ")
        guard words.count == 4, words[0] == secret, let call = Int(words[1]), call > 0, let token = Token(words[2]),
            token > 0
        else { return nil }
        self.call = call
        claim = Claim(id: String(words[3]), token: token, attempt: 1, crashes: 0, body: Array(message[(end + 1)...]))
    }
}
