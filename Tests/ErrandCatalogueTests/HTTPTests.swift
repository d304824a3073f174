import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandCatalogue

/// What a job of an `http` operation comes to, against a real server.
@Suite(.timeLimit(.minutes(6)))
struct HTTPTests {
    private static let json = #"{"path":"a.jpg","big":123456789012345678901234567890}"#

    private func call(
        _ url: String,
        method: String = "POST",
        headers: [String: String] = [:],
        name: String? = nil
    ) async throws -> HandlerOutcome {
        let request = CatalogueRequest(method: method, address: try WebAddress(url), headers: headers)
        let job = JobFacts(
            id: "j1",
            operation: "notify",
            name: name,
            attempt: 2,
            token: 77,
            deadline: 5,
            arguments: try JSONText(validating: Self.json.utf8)
        )
        return await CatalogueRunner().run(CatalogueOperation(name: "notify", kind: .http(request)), job: job)
    }

    @Test(arguments: ["POST", "PUT", "PATCH", "DELETE"])
    func sendsTheArguments(method: String) async throws {
        let server = try WebServer { _ in WebServer.answer(200, [:], "done") }
        let headers = ["X-Key": "1", "X-Empty": "", "X-Text": "ü"]
        let outcome = try await call(server.url + "/hook?a=b", method: method, headers: headers, name: "é\n%")
        #expect(outcome == .finished(result: Array("done".utf8)))
        let request = try #require(server.requests.first)
        #expect(request.line == "\(method) /hook?a=b HTTP/1.1")
        #expect(request.body == Array(Self.json.utf8))
        let expected = [
            "content-type": "application/json", "x-key": "1", "errand-job-id": "j1", "errand-operation": "notify",
            "errand-name": "%C3%A9%0A%25", "errand-queue": "default", "errand-attempt": "2", "errand-token": "77",
            "errand-deadline-ms": "5", "x-empty": "", "x-text": "ü", "user-agent": "errand",
        ]
        for (name, value) in expected { #expect(request.headers[name] == value) }
    }

    @Test func aGetHasNoBody() async throws {
        let server = try WebServer { _ in WebServer.answer(204) }
        #expect(try await call(server.url, method: "GET") == .finished(result: []))
        #expect(server.requests.first?.body == [])
        #expect(server.requests.first?.headers["errand-job-id"] == "j1")
    }

    @Test func keepsTheBeginningOfTheBody() async throws {
        let server = try WebServer { _ in WebServer.answer(200, [:], String(repeating: "x", count: 1_000_000)) }
        #expect(try await call(server.url) == .finished(result: [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)))
    }

    @Test(arguments: [
        (400, true), (401, true), (404, true), (410, true), (422, true), (304, true), (408, false), (429, false),
        (500, false), (502, false), (503, false),
    ])
    func otherStatusesAreFailures(status: Int, final: Bool) async throws {
        let server = try WebServer { _ in WebServer.answer(status, [:], "secret") }
        guard case .failed(let message, let isFinal, nil) = try await call(server.url + "/secret?x=secret") else {
            throw TestError("not a failure")
        }
        #expect(isFinal == final)
        #expect(message.hasPrefix("POST to 127.0.0.1:\(server.port) returned status \(status)"))
        #expect(!message.contains("secret"))
    }

    @Test func anAnswerThatAsksForAPasswordIsFinal() async throws {
        let server = try WebServer { _ in WebServer.answer(401, ["WWW-Authenticate": "Basic realm=\"x\""]) }
        guard case .failed(let message, true, nil) = try await call(server.url) else {
            throw TestError("not a final failure")
        }
        #expect(message.hasSuffix("returned status 401"))
    }

    @Test(arguments: [(429, Duration.seconds(7)), (503, .seconds(7)), (500, nil), (404, nil)])
    func someStatusesSayWhenToTryAgain(status: Int, wait: Duration?) async throws {
        let server = try WebServer { _ in WebServer.answer(status, ["Retry-After": "7"]) }
        guard case .failed(_, _, wait) = try await call(server.url) else { throw TestError("another wait") }
    }

    @Test func aPasswordInTheAddressBecomesAHeader() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        _ = try await call("http://user:p%40ss@127.0.0.1:\(server.port)/")
        #expect(server.requests.first?.headers["authorization"] == "Basic dXNlcjpwQHNz")
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func followsNoRedirect(status: Int) async throws {
        let server = try WebServer { request in
            request.line.contains("/old") ? WebServer.answer(status, ["Location": "/new"]) : WebServer.answer(200)
        }
        guard case .failed(let message, true, nil) = try await call(server.url + "/old") else {
            throw TestError("not a final failure")
        }
        #expect(message.hasSuffix("redirects are not followed, so write the final address into the catalogue"))
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [(304, "; the request is conditional"), (300, nil), (305, nil), (399, nil)])
    func `an answer without another address does not speak of one`(status: Int, advice: String?) async throws {
        let server = try WebServer { _ in WebServer.answer(status) }
        guard case .failed(let message, true, nil) = try await call(server.url) else {
            throw TestError("not a final failure")
        }
        #expect(!message.contains("redirect"), "\(message)")
        #expect(advice.map(message.contains) ?? message.hasSuffix("status \(status)"), "\(message)")
    }

    @Test func aServerThatIsNotThereIsAFailureToRetry() async throws {
        let port = try WebServer { _ in nil }.port
        #expect(
            try await call("http://127.0.0.1:\(port)/")
                == .failed("POST to 127.0.0.1:\(port) got no response: the connection was refused")
        )
    }

    @Test func aBrokenAnswerIsAFailureToRetry() async throws {
        let server = try WebServer { _ in "" }
        guard case .failed(_, false, nil) = try await call(server.url) else { throw TestError("not to retry") }
    }

    @Test func cancellingEndsTheRequest() async throws {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let server = try WebServer { _ in
            continuation.yield()
            return nil
        }
        let url = server.url
        let job = Task { try await call(url) }
        for await _ in asked { break }
        job.cancel()
        #expect(try await job.value == .failed("stopped"))
    }

    @Test func manyRequestsRunAtOnce() async throws {
        // Each answer waits until all requests have come: six connections a host, the usual limit, would never do.
        let gate = Gate(count: 20)
        let server = try WebServer { _ in
            gate.arrive()
            return WebServer.answer(200)
        }
        let url = server.url
        let outcomes = try await withThrowingTaskGroup(of: HandlerOutcome.self) { group in
            for _ in 0..<20 { group.addTask { try await call(url) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == Array(repeating: .finished(result: []), count: 20))
    }
}

/// Lets threads pass when enough of them have come.
private final class Gate: @unchecked Sendable {
    // NSCondition is safe to share, and it guards the count.
    private let condition = NSCondition()
    private var missing: Int

    init(count: Int) {
        missing = count
    }

    func arrive() {
        condition.lock()
        defer { condition.unlock() }
        missing -= 1
        condition.broadcast()
        let deadline = Date().addingTimeInterval(20)
        while missing > 0, condition.wait(until: deadline) {}
    }
}

struct RetryAfterTests {
    private let now = Date(timeIntervalSince1970: 784_111_777)

    @Test(arguments: [
        ("120", Duration.seconds(120)), (" 0 ", .zero), ("99999999999999999999", .seconds(86_400)),
        ("86401", .seconds(86_400)), ("86399", .seconds(86_399)), ("Tue, 08 Nov 1994 08:49:37 GMT", .seconds(86_400)),
        ("Sun, 06 Nov 1994 08:50:37 GMT", .seconds(60)), ("Sunday, 06-Nov-94 08:50:37 GMT", .seconds(60)),
        ("Sun Nov  6 08:50:37 1994", .seconds(60)), ("Sun, 06 Nov 1994 08:00:00 GMT", nil), ("soon", nil), ("-1", nil),
        ("", nil), ("1.5", nil),
    ])
    func reads(text: String, wait: Duration?) {
        #expect(RetryAfter.duration(text, date: nil, now: now) == wait)
    }

    @Test func measuresByTheServersClock() {
        let wait = RetryAfter.duration(
            "Sun, 06 Nov 1994 08:50:37 GMT",
            date: "Sun, 06 Nov 1994 08:50:27 GMT",
            now: now
        )
        #expect(wait == .seconds(10))
    }
}
