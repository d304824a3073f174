import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandCatalogue

/// Traces that follow jobs to commands and web servers.
@Suite(.timeLimit(.minutes(6)))
struct TraceContextTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"
    private static let parent = "00-\(trace)-\(span)-01"
    private static let zeros = String(repeating: "0", count: 32)

    static let valid = [
        parent, "00-\(trace)-\(span)-00", "cc-\(trace)-\(span)-ff", "01-\(trace)-\(span)-01-more-of:it",
    ]
    static let notValid: [String] = [
        "", "00", "-", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
        "00-\(trace)-\(span)-0g", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-more",
        "01-\(trace)-\(span)-01.more", "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01",
        "00-\(trace.uppercased())-\(span)-01", "00-\(trace.dropLast())-\(span)-01", "00-\(trace)-\(span)0-01",
        "00-\(zeros)-\(span)-01", "00-\(trace)-\(zeros.prefix(16))-01", " 00-\(trace)-\(span)-01",
        "00-\(trace)-\(span)-01\n", "01-\(trace)-\(span)-01-a\nb", "01-\(trace)-\(span)-01-é",
        "00_\(trace)_\(span)_01", "01-\(trace)-\(span)-01-\(String(repeating: "x", count: 73))",
    ]

    @Test(arguments: valid) func takesWhatIsValid(parent: String) throws {
        let trace = try #require(TraceContext(fields: ["traceparent": parent, "tracestate": "a=1,b=2 "]))
        #expect(trace.fields == ["traceparent": parent, "tracestate": "a=1,b=2 "])
        #expect(trace.variables == ["TRACEPARENT": parent, "TRACESTATE": "a=1,b=2 "])
        #expect(TraceContext(variables: trace.variables) == trace)
        #expect(TraceContext(fields: ["traceparent": parent])?.fields == ["traceparent": parent])
    }

    @Test(arguments: notValid) func leavesOutWhatIsNot(parent: String) {
        #expect(TraceContext(fields: ["traceparent": parent, "tracestate": "a=1"]) == nil)
        #expect(TraceContext(variables: ["TRACEPARENT": parent]) == nil)
    }

    @Test func aStateAloneIsNoTrace() {
        #expect(TraceContext(fields: ["tracestate": "a=1"]) == nil)
        #expect(TraceContext(fields: [:]) == nil)
    }

    @Test func takesTheLongestThatIsAllowed() {
        let parent = "01-\(Self.trace)-\(Self.span)-01-" + String(repeating: "x", count: 72)
        let state = String(repeating: "x", count: 512)
        #expect(parent.count == 128)
        #expect(TraceContext(parent: parent, state: state)?.state == state)
        #expect(TraceContext(parent: parent, state: state + "x")?.fields == ["traceparent": parent])
    }

    @Test(arguments: ["", "a=\u{1}", "a=1\nb=2", "a=é", "a\u{7F}"])
    func leavesOutAStateThatIsNoPrintableASCII(state: String) {
        #expect(TraceContext(parent: Self.parent, state: state)?.fields == ["traceparent": Self.parent])
    }

    // MARK: - Commands

    /// What of a trace a command finds in its environment.
    private func variables(_ trace: TraceContext?) async throws -> String {
        let templates = try ["sh", "-c", "env | grep ^TRACE | sort"].map { try Template($0) }
        let job = JobFacts(id: "j1", operation: "tell", trace: trace)
        let outcome = await CatalogueRunner().run(CatalogueOperation(name: "tell", kind: .run(templates)), job: job)
        guard case .finished(let result) = outcome else { throw TestError("not finished: \(outcome)") }
        return String(decoding: result, as: UTF8.self)
    }

    @Test func aCommandGetsItInItsEnvironment() async throws {
        let whole = try await variables(TraceContext(parent: Self.parent, state: "a=1"))
        #expect(whole == "TRACEPARENT=\(Self.parent)\nTRACESTATE=a=1\n")
        #expect(try await variables(TraceContext(parent: Self.parent, state: nil)) == "TRACEPARENT=\(Self.parent)\n")
        #expect(try await !variables(nil).contains(Self.parent))
    }

    // MARK: - Web calls

    /// The parent and the state that a server is told.
    private func headers(_ trace: TraceContext?, _ own: [String: String] = [:]) async throws -> [String?] {
        let server = try WebServer { _ in WebServer.answer(200) }
        let request = CatalogueRequest(method: "POST", address: try WebAddress(server.url), headers: own)
        let job = JobFacts(id: "j1", operation: "notify", trace: trace)
        _ = await CatalogueRunner().run(CatalogueOperation(name: "notify", kind: .http(request)), job: job)
        let headers = try #require(server.requests.first).headers
        return [headers["traceparent"], headers["tracestate"]]
    }

    @Test func aWebServerGetsItInHeaders() async throws {
        #expect(try await headers(TraceContext(parent: Self.parent, state: "a=1")) == [Self.parent, "a=1"])
        #expect(try await headers(TraceContext(parent: Self.parent, state: nil)) == [Self.parent, nil])
        #expect(try await headers(nil) == [nil, nil])
    }

    @Test func headersOfTheCatalogueWin() async throws {
        let trace = TraceContext(parent: Self.parent, state: "a=1")
        let other = "00-\(Self.trace)-00f067aa0ba902b7-00"
        let named = try await headers(trace, ["TraceParent": other])
        #expect(named == [other, nil], "a state belongs to its parent")
        #expect(try await headers(trace, ["Tracestate": "own=1"]) == [nil, "own=1"])
    }
}
