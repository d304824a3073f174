import Errand
import ErrandOperator
import HTTPTypes
import Hummingbird
import NIOCore

extension FrontDesk {
    /// What supervisors, Prometheus and autoscalers ask for.
    static func addHealth<Context: RequestContext>(to routes: DeskRoutes<Context>) {
        routes.get("healthz") { desk, request, _ in
            await desk.answer(request, needing: .none) { _ in Self.text("ok\n") }
        }
        routes.get("readyz") { desk, request, _ in
            await desk.answer(request, needing: .none) { _ in await desk.readiness() }
        }
        routes.get("metrics") { desk, request, _ in
            await desk.answer(request, needing: .reading) { _ in try await desk.metrics() }
        }
        routes.get("scale") { desk, request, _ in
            await desk.answer(request, needing: .reading) { visit in try await desk.scale(visit) }
        }
    }

    private func readiness() async -> Response {
        do {
            _ = try await broker.queues()
            return Self.text("ready\n")
        } catch {
            // Who asks without a password learns that it is so, not where the broker is.
            return Self.text("the broker does not answer\n", status: .serviceUnavailable)
        }
    }

    private func metrics() async throws -> Response {
        let overview = try await Overview(of: try await broker.queues(), on: broker)
        var response = Self.text(MetricsText.text(of: overview))
        response.headers[.contentType] = "text/plain; version=0.0.4; charset=utf-8"
        return response
    }

    private static func text(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status,
            headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }

    private func scale(_ visit: Visit) async throws -> Response {
        let name = try queueName(visit.query["queue"])
        let (status, sessions) = try await broker.status(of: name)
        let goal = ScaleAdvice.Goal(
            within: .milliseconds(try duration(visit, "within") ?? 30_000),
            least: try number(visit, "min") ?? 0,
            most: try number(visit, "max") ?? 100
        )
        let rates = dashboard.sampler.rates(of: name)
        let advice = ScaleAdvice(status, rates, sessions, goal)
        let json: JSONOutput = [
            "queue": .text(name), "ready": .count(advice.ready),
            "oldest_ready_ms": .count(advice.oldestReadyMilliseconds),
            "finished_per_s": .decimal(advice.finishedPerSecond), "pushed_per_s": .decimal(rates.pushed),
            "backlog_s": advice.backlogSeconds.map(JSONOutput.decimal) ?? .null, "workers": .count(advice.workers),
            "wanted_workers": .count(advice.wanted),
        ]
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: json.bytes + [UInt8(ascii: "\n")]))
        )
    }

    private func number(_ visit: Visit, _ key: String) throws -> Int? {
        try visit.query[key].map { text in
            guard let number = Int(text), (0...100_000).contains(number) else {
                throw PageProblem.bad("\(key) must be a whole number from 0 to 100000")
            }
            return number
        }
    }

    private func duration(_ visit: Visit, _ key: String) throws -> Int64? {
        try visit.query[key].map { text in
            guard let age = Timestamp.age(text), (1000...86_400_000).contains(age) else {
                throw PageProblem.bad("\(key) must be a time from 1s to 1d")
            }
            return age
        }
    }
}
