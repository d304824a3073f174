import Crypto
import Errand
import Foundation

/// The job that delivers one event to one webhook.
struct WebhookDelivery: JobParameters {
    static let jobName = "errand.webhook"
    static let jobDefaults = JobDefaults(queue: Webhooks.queue, retries: 15)

    /// The webhook's name; the delivering worker has its URL and secrets.
    let webhook: String
    /// The event's type, such as `job.finished` or `workflow.finished`.
    let type: String
    /// The time of the event, in ISO 8601.
    let timestamp: String
    /// The event's JSON, as it was published.
    let event: String

    init(_ webhook: Webhook, _ event: KeptEvent) {
        self.webhook = webhook.name
        type = Self.type(of: event.event.event ?? "")
        let milliseconds = event.event.atMilliseconds ?? 0
        timestamp = Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)
        self.event = String(decoding: event.line, as: UTF8.self)
    }

    private static func type(of kind: String) -> String {
        kind.hasPrefix("workflow_") ? "workflow." + kind.dropFirst("workflow_".count) : "job." + kind
    }

    /// The body to post, in the format of the Standard Webhooks specification.
    var body: Data { Data(#"{"type":"\#(type)","timestamp":"\#(timestamp)","data":\#(event)}"#.utf8) }

    /// Returns the job's id. It is the same for the same event and webhook, so that an event that is read twice is
    /// delivered once.
    static func id(_ webhook: Webhook, _ queue: String, _ cursor: EventCursor) -> String {
        let digest = SHA256.hash(data: Data("\(webhook.name) \(queue) \(cursor)".utf8))
        return "wh_" + digest.prefix(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
