import Errand
import Foundation

/// The handler of deliveries: posts an event once per run, and turns the response into the job's outcome.
struct WebhookSender: Sendable {
    let webhooks: [Webhook]
    let transport: any WebhookTransport

    func deliver(_ delivery: WebhookDelivery, _ id: String) async throws {
        guard let webhook = webhooks.first(where: { $0.name == delivery.webhook }) else {
            // Another worker may have the webhook, or this one may after an update.
            throw JobFailure(
                "this worker knows no webhook \"\(delivery.webhook)\"; give it to every worker that registers deliveries",
                retryAfter: .seconds(60)
            )
        }
        let message = WebhookMessage(id: id, timestamp: Int64(Date().timeIntervalSince1970), body: delivery.body)
        let signature = webhook.secrets.map { $0.signature(message) }.joined(separator: " ")
        let headers = [
            ("content-type", "application/json"), ("user-agent", "errand"), ("webhook-id", id),
            ("webhook-timestamp", "\(message.timestamp)"), ("webhook-signature", signature),
        ]
        let (status, retryAfter) = try await post(message.body, headers, to: webhook)
        try check(status, retryAfter, webhook)
    }

    /// Posts a body. A failure says of which webhook it is.
    private func post(
        _ body: Data,
        _ headers: [(String, String)],
        to webhook: Webhook
    ) async throws -> (status: Int, retryAfter: Int?) {
        do {
            return try await transport.post(body, to: webhook.url, headers: headers, timeout: webhook.timeout)
        } catch let failure as JobFailure {
            throw failure.prefixed("webhook \"\(webhook.name)\": ")
        }
    }

    private func check(_ status: Int, _ retryAfter: Int?, _ webhook: Webhook) throws {
        switch status {
        case 200..<300: return
        case 410: throw JobCancellation("webhook \"\(webhook.name)\": the receiver is gone (410)")
        default:
            let pause = retryAfter.map { Duration.seconds(min(max($0, 1), 86_400)) }
            let hint = (300..<400).contains(status) ? "; redirects are not followed, so give the final address" : ""
            throw JobFailure(
                "webhook \"\(webhook.name)\": the receiver returned status \(status)\(hint)",
                retryAfter: pause
            )
        }
    }
}
