import Crypto
public import Foundation

/// A key that sender and receiver share, in the form of the Standard Webhooks specification: `whsec_` and 24 to 64 bytes in base 64.
public struct WebhookSecret: Sendable, CustomStringConvertible {
    private let key: SymmetricKey

    /// Reads a secret's text.
    ///
    /// - Throws: ``WebhookError`` when it is none.
    public init(_ text: String) throws(WebhookError) {
        let prefix = "whsec_"
        guard text.hasPrefix(prefix), let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            (24...64).contains(bytes.count)
        else { throw WebhookError("a webhook's secret must be whsec_ and 24 to 64 bytes in base 64") }
        key = SymmetricKey(data: bytes)
    }

    /// A fresh one, and the text to give to the receiver.
    public static func generate() -> (secret: WebhookSecret, text: String) {
        let key = SymmetricKey(size: .bits256)
        let text = key.withUnsafeBytes { "whsec_" + Data($0).base64EncodedString() }
        return (WebhookSecret(key), text)
    }

    private init(_ key: SymmetricKey) { self.key = key }

    /// Never the key.
    public var description: String { "whsec_…" }

    /// `v1,` and the HMAC-SHA256 of what is signed, in base 64.
    func signature(_ message: WebhookMessage) -> String {
        "v1," + Data(HMAC<SHA256>.authenticationCode(for: message.signed, using: key)).base64EncodedString()
    }

    /// Whether a signature is of this key, found out in the same time whatever it is.
    func signed(_ message: WebhookMessage, as signature: Substring) -> Bool {
        guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3))) else {
            return false
        }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message.signed, using: key)
    }
}

/// What is signed: the headers `webhook-id` and `webhook-timestamp`, and the body.
struct WebhookMessage {
    let id: String
    /// In seconds since 1970 UTC.
    let timestamp: Int64
    let body: Data

    var signed: Data { Data("\(id).\(timestamp).".utf8) + body }
}

/// What the receiver of webhooks checks before it believes one.
///
/// ```swift
/// let verifier = WebhookVerifier([try WebhookSecret(environment["HOOK_SECRET"] ?? "")])
/// try verifier.verify(body, id: headers["webhook-id"], timestamp: headers["webhook-timestamp"],
///     signature: headers["webhook-signature"])
/// ```
public struct WebhookVerifier: Sendable {
    private let secrets: [WebhookSecret]
    private let tolerance: Duration
    private let now: @Sendable () -> Date

    /// Makes a verifier.
    ///
    /// - Parameters:
    ///   - secrets: one of them must have signed.
    ///   - tolerance: how far the sender's clock may be from this one's; older messages are refused, so that nobody can send one
    ///     again. Within it, `webhook-id` tells what was there before.
    ///   - now: the clock.
    public init(
        _ secrets: [WebhookSecret],
        tolerance: Duration = .seconds(300),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.secrets = secrets
        self.tolerance = tolerance
        self.now = now
    }

    /// Checks a request.
    ///
    /// - Throws: ``WebhookError`` unless it is signed with one of the secrets and fresh.
    public func verify(_ body: Data, id: String?, timestamp: String?, signature: String?) throws(WebhookError) {
        guard let id, let signature, let seconds = timestamp.flatMap({ Int64($0) }) else {
            throw WebhookError("the headers webhook-id, webhook-timestamp and webhook-signature are needed")
        }
        let age = abs(now().timeIntervalSince1970 - Double(seconds))
        guard age <= Double(tolerance.components.seconds) else {
            throw WebhookError("the message is too old or too new")
        }
        let message = WebhookMessage(id: id, timestamp: seconds, body: body)
        let signatures = signature.split(separator: " ").prefix(16)
        guard signatures.contains(where: { one in secrets.contains { $0.signed(message, as: one) } }) else {
            throw WebhookError("no signature is of a secret that is known here")
        }
    }
}
