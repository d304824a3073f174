import Crypto
public import Foundation

/// A key that sender and receiver share, in the format of the Standard Webhooks specification: `whsec_` and 24 to 64
/// bytes in base 64.
public struct WebhookSecret: Sendable, CustomStringConvertible {
    private let key: SymmetricKey

    /// Parses a secret.
    ///
    /// - Throws: ``WebhookError`` if the text is not a valid secret.
    public init(_ text: String) throws(WebhookError) {
        let prefix = "whsec_"
        guard text.hasPrefix(prefix), let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            (24...64).contains(bytes.count)
        else { throw WebhookError("a webhook's secret must be whsec_ and 24 to 64 bytes in base 64") }
        key = SymmetricKey(data: bytes)
    }

    /// Generates a new secret and its text for the receiver.
    public static func generate() -> (secret: WebhookSecret, text: String) {
        let key = SymmetricKey(size: .bits256)
        let text = key.withUnsafeBytes { "whsec_" + Data($0).base64EncodedString() }
        return (WebhookSecret(key), text)
    }

    private init(_ key: SymmetricKey) { self.key = key }

    /// A placeholder; it never contains the key.
    public var description: String { "whsec_…" }

    /// Returns `v1,` and the HMAC-SHA256 of the message in base 64.
    func signature(_ message: WebhookMessage) -> String {
        "v1," + Data(HMAC<SHA256>.authenticationCode(for: message.signed, using: key)).base64EncodedString()
    }

    /// Returns whether a signature was made with this key, in constant time.
    func signed(_ message: WebhookMessage, as signature: Substring) -> Bool {
        guard signature.hasPrefix("v1,"), let code = Data(base64Encoded: String(signature.dropFirst(3))) else {
            return false
        }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: message.signed, using: key)
    }
}

/// The signed content: the headers `webhook-id` and `webhook-timestamp`, and the body.
struct WebhookMessage {
    let id: String
    /// In seconds since 1970 UTC.
    let timestamp: Int64
    let body: Data

    var signed: Data { Data("\(id).\(timestamp).".utf8) + body }
}

/// A verifier for receivers, which checks that a webhook comes from the sender.
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
    ///   - secrets: The accepted secrets; a message must be signed with one of them.
    ///   - tolerance: The largest difference between the sender's clock and this one. Messages outside of it are
    ///     rejected, which prevents replays. Within it, `webhook-id` identifies duplicates.
    ///   - now: The clock.
    public init(
        _ secrets: [WebhookSecret],
        tolerance: Duration = .seconds(300),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.secrets = secrets
        self.tolerance = tolerance
        self.now = now
    }

    /// Verifies a request.
    ///
    /// - Throws: ``WebhookError`` if a header is missing, no accepted secret has signed the message, or its time is not
    ///   within the tolerance.
    public func verify(_ body: Data, id: String?, timestamp: String?, signature: String?) throws(WebhookError) {
        guard let id, let signature, let timestamp else {
            throw WebhookError("the headers webhook-id, webhook-timestamp and webhook-signature are needed")
        }
        guard let seconds = Int64(timestamp) else {
            throw WebhookError("the header webhook-timestamp must be a number of seconds since 1970")
        }
        let age = abs(now().timeIntervalSince1970 - Double(seconds))
        guard age <= Double(tolerance.components.seconds) else {
            throw WebhookError(
                "the message's timestamp is too far from this host's clock (more than \(tolerance)); check both clocks"
            )
        }
        let message = WebhookMessage(id: id, timestamp: seconds, body: body)
        let signatures = signature.split(separator: " ").prefix(16)
        guard signatures.contains(where: { one in secrets.contains { $0.signed(message, as: one) } }) else {
            throw WebhookError(
                "no signature fits; check that the secret is the sender's, and verify the body's bytes as they were received"
            )
        }
    }
}
