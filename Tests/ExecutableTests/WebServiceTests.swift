import ErrandRedis
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `Examples/WebService` as a process, over HTTP.
@Suite(.timeLimit(.minutes(4))) struct WebServiceTests {
    private struct Status: Decodable {
        let state: String
        let fraction: Double?
    }

    private struct Failure: Decodable {
        struct Details: Decodable {
            let message: String
            let job: String?
            let state: String?
        }
        let error: Details
    }

    private let server: RedisServer
    private let service: Program
    private let address: String

    init() async throws {
        let server = try RedisServer()
        let service = try Program(
            "WebService",
            [],
            environment: ["ERRAND_REDIS_URL": server.url, "TOKEN": "ada-s-token", "PORT": "0"]
        )
        @Sendable func port() -> Substring? {
            service.lines.compactMap { $0.firstMatch(of: /serving.*port=(\d+)|port=(\d+).*serving/) }
                .compactMap { $0.1 ?? $0.2 }.first
        }
        try await eventually("it serves: \(service.lines)") { port() != nil }
        (self.server, self.service) = (server, service)
        address = "http://127.0.0.1:\(try #require(port()))"
    }

    private func ask(
        _ method: String,
        _ path: String,
        _ body: String? = nil,
        token: String? = "ada-s-token"
    ) async throws -> (status: Int, body: Data, location: String?) {
        var request = URLRequest(url: try #require(URL(string: address + path)))
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        if body != nil { request.setValue("application/json", forHTTPHeaderField: "Content-Type") }
        let (data, response) = try await URLSession.shared.data(for: request)
        let head = try #require(response as? HTTPURLResponse)
        return (head.statusCode, data, head.value(forHTTPHeaderField: "Location"))
    }

    private func start(_ month: String) async throws -> String {
        let answer = try await ask("POST", "/reports", #"{"month":"\#(month)"}"#)
        #expect(answer.status == 202, "\(String(decoding: answer.body, as: UTF8.self))")
        return try #require(answer.location)
    }

    private func stop() async throws {
        service.signal(SIGTERM)
        #expect(try await service.end() == 0, "\(service.lines.suffix(5))")
    }

    @Test func aReportIsStartedAndRead() async throws {
        let place = try await start("2026-11")
        #expect(try await steps(of: place).last?.state == "finished")
        let result = try await ask("GET", place + "/result")
        #expect(result.status == 200)
        #expect(String(decoding: result.body, as: UTF8.self).contains("week 4 of 2026-11 for ada"))
        #expect(try JSONDecoder().decode(Status.self, from: try await ask("GET", place).body).state == "finished")
        try await stop()
    }

    @Test func aReportThatIsNotReadyHasNoResult() async throws {
        // As below, it may be ready at once.
        var (early, place) = (try await ask("GET", "/reports/none"), "")
        for month in 1...9 where early.status != 504 {
            place = try await start("2028-0\(month)")
            early = try await ask("GET", place + "/result")
        }
        let reason = try JSONDecoder().decode(Failure.self, from: early.body).error
        #expect(reason.message == "the job has not ended yet" && place.hasSuffix(reason.job ?? "?"))
        try await stop()
    }

    @Test func aReportIsFollowedWhileItIsMade() async throws {
        // On a busy machine a report may be ready before anybody follows it, and the next one is followed.
        var seen: [Status] = []
        for month in 1...12 where !seen.contains(where: { $0.state == "running" && ($0.fraction ?? 0) > 0 }) {
            seen = try await steps(of: try await start("2027-\(month < 10 ? "0" : "")\(month)"))
        }
        #expect(seen.contains { $0.state == "running" && ($0.fraction ?? 0) > 0 }, "\(seen)")
        #expect(seen.last?.state == "finished", "\(seen)")
        try await stop()
    }

    private func steps(of place: String) async throws -> [Status] {
        let events = try await ask("GET", place + "/events")
        return String(decoding: events.body, as: UTF8.self).split(separator: "\n\n").compactMap {
            try? JSONDecoder().decode(Status.self, from: Data($0.dropFirst("data: ".count).utf8))
        }
    }

    @Test func strangersAndBadRequestsAreRefused() async throws {
        let place = try await start("2026-11")
        #expect(try await ask("GET", place, token: nil).status == 401)
        #expect(try await ask("GET", place, token: "guessed").status == 401)
        #expect(try await ask("GET", "/reports/another").status == 404)
        #expect(try await ask("POST", "/reports", "{}").status == 400)
        #expect(try await ask("GET", place + "/result?wait=3600").status == 400)
        try await stop()
    }

    @Test func failedAndCancelledReportsHaveAStatusAndKeepTheirReasonsPrivate() async throws {
        let failed = try await ask("GET", try await start("soon") + "/result?wait=30")
        #expect(failed.status == 502)
        let details = try JSONDecoder().decode(Failure.self, from: failed.body).error
        #expect(details.message == "the job is dead" && details.state == "dead")
        // On a busy machine a report may be ready before its cancellation reaches the worker, and the next one is cancelled.
        var reply = try await cancelled("2027-01")
        for month in 2...9 where reply.status == 200 { reply = try await cancelled("2027-0\(month)") }
        #expect(reply.status == 409, "\(reply.body)")
        try await stop()
    }

    /// What the result of a report is answered with after its cancellation was asked for.
    private func cancelled(_ month: String) async throws -> (status: Int, body: String) {
        let place = try await start(month)
        #expect(try await ask("DELETE", place).status == 202)
        let reply = try await ask("GET", place + "/result?wait=30")
        return (reply.status, String(decoding: reply.body, as: UTF8.self))
    }

    @Test func aBrokerThatIsAwayIs503() async throws {
        server.kill(SIGKILL)
        let answer = try await ask("POST", "/reports", #"{"month":"2026-11"}"#)
        #expect(answer.status == 503)
        #expect(!String(decoding: answer.body, as: UTF8.self).contains(server.directory), "its address is private")
        try await stop()
    }
}
