import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Nonsensical replies.
extension Scenario {
    static let wrongAnswers = [
        Scenario("F31", "replies are changed in transit: flipped bytes, inserted replies, nonsense", quick: true) {
            context in
            // With forged replies, a worker may believe that a report was accepted which the broker never received.
            // It may also mistake one claim for another.
            context.rules {
                $0.mayRunAfterItsEnd = true
                $0.mayReuseTokens = true
            }
            let proxy = try context.proxy(context.server())
            let workers = try await context.workers(2) { $0.url = proxy.url }
            let load = context.load(rate: 40, "nap") {
                $0.milliseconds = 10
                $0.pad = 300
            }
            let calls = ScriptCalls()
            proxy.corrupt { request, answer in
                guard let (_, number) = calls.note(request), number % 7 == 6 else { return nil }
                return Nonsense.all[number / 7 % Nonsense.all.count].apply(to: answer)
            }
            try await Task.sleep(for: .seconds(context.size(quick: 12, full: 180)))
            try await load.stop()
            proxy.corrupt { _, _ in nil }
            context.injected(proxy.corruptedReplies)
            context.expect(
                proxy.corruptedReplies > Nonsense.all.count,
                "only \(proxy.corruptedReplies) answers were corrupted"
            )
            context.expect(workers.allSatisfy(\.isRunning), "a worker ended: \(workers.map { $0.lines.suffix(3) })")
            try await context.expectEveryoneIsBusy(workers, within: .seconds(8))
        },
        Scenario("F31b", "replies to pushes are changed in transit: no receipt may be wrong", quick: true) { context in
            let server = try context.server()
            let proxy = try context.proxy(server)
            proxy.corrupt { request, answer in
                guard ScriptCalls.script(of: request) == "push", !answer.starts(with: Array("-NOSCRIPT".utf8)) else {
                    return nil
                }
                return Nonsense.all[context.random(0...Nonsense.all.count - 1)].apply(to: answer)
            }
            let broker = try context.connect(
                proxy.url,
                patience: .milliseconds(300),
                commandTimeout: .milliseconds(200)
            )
            let jobs = try (0..<context.size(quick: 60, full: 1000)).map { _ in try context.job("mark") }
            for job in jobs { try await pushOnce(context, job, via: broker) }
            context.injected(proxy.corruptedReplies)
            proxy.corrupt { _, _ in nil }
            // Whatever the reply was, a repetition never adds a second job.
            try await context.push(jobs)
            try await context.worker()
            try await context.drain()
            let ran = jobs.filter { context.ledger.begun[$0.id] == 1 }
            context.expect(ran.count == jobs.count, "\(jobs.count - ran.count) jobs did not run exactly once")
        },
    ]

    /// Checks that a push with a corrupted reply is only reported as unknown.
    private static func pushOnce(_ context: ScenarioContext, _ job: JobEnvelope, via broker: RedisBroker) async throws {
        context.accounts.tries([job], ends: true)
        do {
            let receipts = try await Producer(broker: broker).push(envelopes: [job])
            let known = try await context.console.inspect([job.id], on: ScenarioContext.queue)[0] != nil
            context.accounts.took(receipts, of: [job])
            context.expect(
                receipts.map(\.outcome) == [.unknown] || known,
                "\(receipts.map(\.outcome)) of a job that the broker does not know"
            )
        } catch let error as BrokerError {
            let known = try await context.console.inspect([job.id], on: ScenarioContext.queue)[0] != nil
            context.expect(!known, "a push that the broker took failed with \(error)")
        }
    }
}

/// A kind of nonsensical reply.
struct Nonsense: Sendable {
    let name: String
    private let change: @Sendable ([UInt8]) -> [UInt8]

    private init(_ name: String, _ change: @escaping @Sendable ([UInt8]) -> [UInt8]) {
        self.name = name
        self.change = change
    }

    /// The reply as it arrives.
    func apply(to answer: [UInt8]) -> [UInt8] { change(answer) }

    private static func text(_ name: String, _ text: String) -> Nonsense { .init(name) { _ in Array(text.utf8) } }

    static let all: [Nonsense] = [
        .init("another type") { [$0[0] ^ 0x10] + $0.dropFirst() },
        .init("another length") { answer in answer.enumerated().map { $0 == 1 ? $1 ^ 1 : $1 } },
        .init("a reply before it") { Array("+OK\r\n".utf8) + $0 },
        .init("an array before it") { Array("*2\r\n:1\r\n:1\r\n".utf8) + $0 },
        .init("itself twice") { $0 + $0 },
        .init("a reply behind it") { $0 + Array("$5\r\nhello\r\n".utf8) },
        .init("only its half") { Array($0.prefix(max(1, $0.count / 2))) },
        .init("only its half, and then another") { Array($0.prefix($0.count / 2)) + Array("\r\n+OK\r\n".utf8) },
        .text("arrays without end", String(repeating: "*1\r\n", count: 100)),
        .text("an enormous array", "*1000000000\r\n:1\r\n"),
        .text("an enormous text", "$2000000000\r\nabc\r\n"),
        .text("a negative length", "$-5\r\n"),
        .text("no value", "$-1\r\n"),
        .text("the greatest number", ":9223372036854775807\r\n"),
        .text("a number too great", ":99999999999999999999999\r\n"),
        .text("nothing in an array", "*0\r\n"),
        .text("no array", "*-1\r\n"),
        .text(
            "an exchange that never happened",
            "*6\r\n$0\r\n\r\n$3\r\n123\r\n*1\r\n$3\r\nxyz\r\n*1\r\n$4\r\nabcd\r\n*0\r\n:0\r\n"
        ),
        .text("two enormous numbers", "*2\r\n:9223372036854775807\r\n:9223372036854775807\r\n"),
        .text("two negative numbers", "*2\r\n:-9223372036854775808\r\n:-9223372036854775808\r\n"),
        .text("another protocol", "HTTP/1.1 200 OK\r\n\r\n"),
        .text("bytes that are no text", "\u{0}\u{1}\u{fffd}\r\n"),
    ]
}
