public import Errand
import ErrandHTTP
public import Foundation

/// An address that is told of events.
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
    /// What it is called, `[A-Za-z0-9_.-]{1,64}`: jobs name it, so the address and the secrets stay out of the broker.
    public let name: String
    /// Where events are posted.
    public let url: URL
    /// What they are signed with: the present secret and, while the receiver changes over, the one before.
    public let secrets: [WebhookSecret]
    /// Which events; all but `progress` when there are none here.
    public let events: Set<JobEvent.Kind>
    /// How often a delivery is tried again, 0 to 1,000.
    public let retries: Int
    /// How long the receiver may take to answer.
    public let timeout: Duration

    /// Makes a webhook. Fifteen retries take half a day, a day at the most.
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

    /// Whether it wants to hear of this.
    func wants(_ event: JobEvent) -> Bool {
        guard let kind = event.kind else { return false }
        return events.isEmpty ? kind != .progress : events.contains(kind)
    }

    /// Refuses what could never be delivered.
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

/// What is wrong with a webhook, or with what claims to come from one.
public struct WebhookError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, for people. Never holds a secret.
    public let description: String

    init(_ description: String) { self.description = description }
}
