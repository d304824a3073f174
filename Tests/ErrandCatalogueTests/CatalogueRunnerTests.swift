import Errand
import Foundation
import Testing

@testable import ErrandCatalogue

/// What a job of a `run` operation comes to.
@Suite(.timeLimit(.minutes(6)))
struct CatalogueRunnerTests {
    private func run(
        _ arguments: [String],
        json: String = "{}",
        name: String = "a name"
    ) async throws -> HandlerOutcome {
        let operation = CatalogueOperation(name: "test", kind: .run(try arguments.map { try Template($0) }))
        let job = JobFacts(
            id: "j1",
            operation: "test",
            name: name,
            queue: "files",
            attempt: 2,
            token: 77,
            deadline: 1_795_215_724_000,
            arguments: try JSONText(validating: json.utf8)
        )
        return await CatalogueRunner().run(operation, job: job)
    }

    @Test func standardOutputIsTheResult() async throws {
        let outcome = try await run(["printf", "%s|", "{path}", "-n {count}"], json: #"{"path":"a b;*","count":1.0}"#)
        #expect(outcome == .finished(result: Array("a b;*|-n 1.0|".utf8)))
    }

    @Test func argumentsComeOnStandardInput() async throws {
        let json = #"{"path": "é", "big": 123456789012345678901234567890}"#
        #expect(try await run(["cat"], json: json) == .finished(result: Array(json.utf8)))
    }

    @Test func factsComeInTheEnvironment() async throws {
        let script = """
            echo "$ERRAND_JOB_ID $ERRAND_OPERATION $ERRAND_NAME $ERRAND_QUEUE $ERRAND_ATTEMPT $ERRAND_TOKEN \
            $ERRAND_DEADLINE_MS"
            """
        let expected = "j1 test a name files 2 77 1795215724000\n"
        #expect(try await run(["sh", "-c", script]) == .finished(result: Array(expected.utf8)))
    }

    @Test func `a NUL in a job's name does not keep its command from running`() async throws {
        let outcome = try await run(["sh", "-c", "echo \"$ERRAND_NAME\""], name: "a\0b\0")
        #expect(outcome == .finished(result: Array("a\u{FFFD}b\u{FFFD}\n".utf8)))
    }

    @Test func anotherStatusIsAFailureWithTheEndOfStandardError() async throws {
        let outcome = try await run(["sh", "-c", "echo lost; echo 'no such file' >&2; exit 3"])
        #expect(outcome == .failed("exit status 3: no such file"))
    }

    @Test func aSignalIsAFailureOrAnInterruption() async throws {
        #expect(try await run(["sh", "-c", "kill -9 $$"]) == .failed("ended by SIGKILL (signal 9)"))
        #expect(try await run(["sh", "-c", "kill -SEGV $$"]) == .failed("ended by SIGSEGV (signal 11)"))
        #expect(ChildResult(ending: .signalled(SIGKILL)).isInterrupted)
        #expect(!ChildResult(ending: .signalled(SIGSEGV)).isInterrupted)
        #expect(!ChildResult(ending: .signalled(SIGKILL), stopped: true).isInterrupted)
    }

    @Test func status75AsksForARetry() async throws {
        let outcome = try await run(["sh", "-c", "echo busy >&2; exit 75"])
        #expect(outcome == .snoozed(.seconds(1)))
    }

    @Test func aCommandThatIsNotThereIsAFailure() async throws {
        let message = "cannot run \"errand-no-such\": there is no such command on the worker's PATH"
        #expect(try await run(["errand-no-such"]) == .failed(message))
    }

    @Test(arguments: [("{}", "is missing"), (#"{"path":null}"#, "is null"), ("[]", "are not a JSON object")])
    func argumentsThatDoNotFitAreAFinalFailure(json: String, reason: String) async throws {
        guard case .failed(let message, true, nil) = try await run(["echo", "{path}"], json: json) else {
            throw TestError("not a final failure")
        }
        #expect(message.contains(reason))
    }

    @Test func argumentsNeedBeNoObjectWithoutPlaces() async throws {
        #expect(try await run(["cat"], json: "[1]") == .finished(result: Array("[1]".utf8)))
    }

    @Test func aCancelledJobIsStopped() async throws {
        let fifo = try Fifo()
        let job = Task { try await run(["sh", "-c", "exec 3>\(fifo.path); echo ready >&3; sleep 1000"]) }
        _ = try await fifo.line()
        job.cancel()
        #expect(try await job.value == .failed("stopped"))
        #expect(fifo.isAtEnd)
    }

    @Test func theEndOfATextIsValidUTF8() {
        #expect(TextTail.text(Array(Array("€€".utf8).dropFirst()), limit: 100) == "€")
        #expect(TextTail.text([0x61, 0xFF, 0x62], limit: 100) == "a\u{FFFD}b")
        #expect(TextTail.text([UInt8](repeating: 0xFF, count: 4_096), limit: 4_096).utf8.count == 4_095)
        #expect(TextTail.text(Array("abc".utf8), limit: 2) == "bc")
    }
}
