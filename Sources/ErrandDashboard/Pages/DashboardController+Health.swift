import Errand
import ErrandOperator
import ErrandText
import HTTPTypes
import Hummingbird
import NIOCore

extension DashboardController {
    /// Adds the routes for supervisors, Prometheus and autoscalers.
    static func addHealth<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.get("healthz") { controller, request, _ in
            await controller.answer(request, needing: .none) { _ in Self.text("ok\n") }
        }
        routes.get("readyz") { controller, request, _ in
            await controller.answer(request, needing: .none) { _ in await controller.readiness() }
        }
        routes.get("metrics") { controller, request, _ in
            await controller.answer(request, needing: .reading, problemsAs: .text) { _ in
                try await controller.metrics()
            }
        }
        routes.get("scale") { controller, request, _ in
            await controller.answer(request, needing: .reading, problemsAs: .json) { pageRequest in
                try await controller.scale(pageRequest)
            }
        }
    }

    private func readiness() async -> Response {
        do {
            _ = try await dashboard.queues.names()
            return Self.text("ready\n")
        } catch {
            // This route needs no password, so the response does not reveal the broker's address.
            return Self.text("the broker does not respond\n", status: .serviceUnavailable)
        }
    }

    private func metrics() async throws -> Response {
        let overview = try await Overview(of: try await dashboard.queues.names(), withServersOf: broker)
        let runs = try await overview.queues.map(\.name).readingEach { [broker] queue throws(BrokerError) in
            try await broker.runTotals(of: queue)
        }
        let rows = runs.values.flatMap { queue, totals in
            totals.sorted { $0.key < $1.key }.map {
                OperationTimes(queue: queue, operation: $0.key, statistics: $0.value)
            }
        }
        var response = Self.text(MetricsText.text(of: overview, runs: rows))
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

    private func scale(_ pageRequest: PageRequest) async throws -> Response {
        let name = try queueName(pageRequest.query["queue"])
        let (status, sessions) = try await broker.status(of: name)
        let goal = ScaleAdvice.Goal(
            within: try duration(pageRequest, "within") ?? .seconds(30),
            least: try number(pageRequest, "min") ?? 0,
            most: try number(pageRequest, "max") ?? 100
        )
        let rates = dashboard.sampler.rates(of: name)
        let advice = ScaleAdvice(status, rates, sessions, goal)
        let groups = try await broker.largestGroups(of: status)
        let json: JSONOutput = [
            "queue": .text(name), "ready": .count(advice.ready),
            "oldest_ready_ms": .count(advice.oldestReadyMilliseconds),
            "finished_per_s": .decimal(advice.finishedPerSecond), "pushed_per_s": .decimal(rates.pushed),
            "backlog_s": advice.backlogSeconds.map(JSONOutput.decimal) ?? .null, "workers": .count(advice.workers),
            "wanted_workers": .count(advice.wanted),
        ]
        let scale = groups.isEmpty ? json : json.with(["groups": .list(groups.map(\.json))])
        return Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: scale.bytes + [UInt8(ascii: "\n")]))
        )
    }

    private func number(_ pageRequest: PageRequest, _ key: String) throws -> Int? {
        try pageRequest.query[key].map { text in
            guard let number = Int(text), (0...100_000).contains(number) else {
                throw PageProblem.bad("\(key) must be a whole number from 0 to 100000")
            }
            return number
        }
    }

    private func duration(_ pageRequest: PageRequest, _ key: String) throws -> Duration? {
        try pageRequest.query[key].map { text in
            guard let duration = try? DurationText.parse(text), (.seconds(1) ... .seconds(86_400)).contains(duration)
            else { throw PageProblem.bad("\(key) must be a time from 1s to 1d") }
            return duration
        }
    }
}
