public import Errand
import ErrandHTTP
public import Foundation

/// A receiver of events: a URL with secrets and the events to post.
///
/// ```swift
/// let billing = Webhook(
///     "billing",
///     url: address,
///     secrets: [try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
///     events: [.finished, .dead]
/// )
/// ```
public struct Webhook: Sendable {
    /// The webhook's name, `[A-Za-z0-9_.-]{1,64}`. Jobs contain only this name, so the broker never stores the URL or
    /// the secrets.
    public let name: String
    /// The URL to post events to.
    public let url: URL
    /// The secrets to sign with: the present one and, during a rotation, the previous one.
    public let secrets: [WebhookSecret]
    /// The kinds of events to post; if empty, all but `progress`.
    public let events: Set<JobEvent.Kind>
    /// The number of retries of a delivery, 0 to 1,000.
    public let retries: Int
    /// The time limit for the receiver's response.
    public let timeout: Duration

    /// Makes a webhook. The default of 15 retries takes half a day, and at most a day.
    public init(
        _ name: String,
        url: URL,
        secrets: [WebhookSecret],
        events: Set<JobEvent.Kind> = [],
        retries: Int = 15,
        timeout: Duration = .seconds(15)
    ) {
        self.name = name
        self.url = url
        self.secrets = secrets
        self.events = events
        self.retries = retries
        self.timeout = timeout
    }

    /// Returns whether the webhook receives this event.
    func wants(_ event: JobEvent) -> Bool {
        guard let kind = event.kind else { return false }
        return events.isEmpty ? kind != .progress : events.contains(kind)
    }

    /// Rejects a webhook that could never be delivered.
    func check() throws(WebhookError) {
        guard QueueName.isValid(name), name.utf8.count <= 64 else {
            throw WebhookError("a webhook's name must match [A-Za-z0-9_.-]{1,64}, and \"\(name.prefix(80))\" does not")
        }
        if let problem = HTTPRequest.problem(of: url) {
            throw WebhookError("webhook \"\(name)\": the address \(problem)")
        }
        guard !secrets.isEmpty else { throw WebhookError("webhook \"\(name)\": it needs a secret to sign with") }
        guard (.seconds(1) ... .seconds(3600)).contains(timeout) else {
            throw WebhookError("webhook \"\(name)\": the timeout must be 1 s to an hour")
        }
        guard (0...1000).contains(retries) else { throw WebhookError("webhook \"\(name)\": retries must be 0 to 1000") }
    }
}

/// The error for an invalid webhook, or for a request that does not come from a trusted sender.
public struct WebhookError: LocalizedError, Sendable, Equatable, CustomStringConvertible {
    /// The problem, for people. It never contains a secret.
    public let description: String
    /// The same as ``description``.
    public var errorDescription: String? { description }

    init(_ description: String) { self.description = description }
}
