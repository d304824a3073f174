import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Large, many and repeated jobs.
extension Scenario {
    static let largeJobs = [
        Scenario("F68", "arguments of one byte to a hundred megabytes", quick: true, alone: true) { context in
            context.rules { $0.forbidsGrace = true }
            try context.server()
            let worker = try await context.worker { $0.lease = 1000 }
            async let oldest = context.oldestBeat(of: worker, within: .seconds(context.size(quick: 6, full: 20)))
            let sizes = [1, 1 << 20, (1 << 20) + 1, 16 << 20, context.size(quick: 64, full: 511) << 20]
            for size in sizes {
                let text =
                    [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "x"), count: max(size - 2, 0)) + [
                        UInt8(ascii: "\"")
                    ]
                do {
                    let arguments = try JSONText(validating: size < 2 ? [UInt8(ascii: "1")] : text)
                    let job = try OperationDescription("final", arguments: arguments, queue: ScenarioContext.queue)
                        .makeEnvelope()
                    context.expect(size <= 1 << 20, "\(size) bytes were let through")
                    try await context.push([job], ends: false)
                } catch {
                    context.expect(size > 1 << 20, "\(size) bytes were refused: \(error)")
                    context.injected()
                }
            }
            try await context.push(context.size(quick: 20, full: 200), "mark") { $0.pad = 1_000_000 }
            try await context.drain()
            let lost = try await context.totals()["recovered"]
            context.expect(lost == 0, "\(lost) jobs were recovered while others were transferred")
            context.expectSteady(try await oldest, lease: 1000)
            context.expect(context.sessions(of: worker).count == 1, "the worker's session was lost")
            let dead = try await context.console.jobs(in: .dead, on: ScenarioContext.queue, from: 0, count: 10).jobs
                .map(\.id)
            _ = try await context.console.delete(dead, on: ScenarioContext.queue)
        },
        Scenario("F69", "many jobs of a megabyte are claimed") { context in
            context.rules { $0.forbidsDuplicates = true }
            try context.server()
            let count = context.size(quick: 60, full: 400)
            for _ in 0..<count / 20 { try await context.push(20, "mark") { $0.pad = 1_000_000 } }
            let worker = try await context.worker { $0.concurrency = 200 }
            var most = 0
            try await eventually("they are done", within: .seconds(120)) {
                most = max(most, worker.residentMegabytes)
                return context.ledger.counts.ended == count
            }
            context.injected(count)
            context.note("a worker that claims \(count) MB has used \(most) MB")
            context.expect(most < 400, "the worker used \(most) MB")
        },
        Scenario("F70", "a hundred connections push the same id", quick: true) { context in
            context.rules { $0.forbidsDuplicates = true }
            let server = try context.server()
            let job = try context.job("mark")
            context.accounts.tries([job], ends: true)
            let outcomes = try await withThrowingTaskGroup(of: Receipt.Outcome.self) { group in
                for _ in 0..<100 {
                    let broker = try context.connect(server.url)
                    group.addTask { try await Producer(broker: broker).push(envelopes: [job])[0].outcome }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            context.expect(outcomes.filter { $0 == .accepted }.count == 1, "accepted more or less than once")
            context.injected(outcomes.filter { $0 == .exists }.count)
            context.expect(outcomes.filter { $0 == .exists }.count == 99, "not every other push said exists")
            context.accounts.took([Receipt(id: job.id, queue: ScenarioContext.queue, outcome: .accepted)], of: [job])
            // The run verifies that its arguments contain its own id.
            let changes = ["id": "other"]
            let other = try OperationDescription("mark", encoding: changes, queue: ScenarioContext.queue, id: job.id)
                .makeEnvelope()
            let producer = Producer(broker: try context.console)
            let changed = try await producer.push(envelopes: [other])[0].outcome
            context.expect(changed == .exists, "with other arguments a push says \(changed)")
            let stored = try await context.console.inspect([job.id], on: ScenarioContext.queue)[0]?.body ?? []
            context.expect(Array(stored.dropFirst(13)) == job.bytes, "another push of the id changed the job")
            try await context.worker()
            try await context.drain()
            // After its end the id is still remembered.
            let again = try await producer.push(envelopes: [job, other]).map(\.outcome)
            context.expect(again == [.exists, .exists], "after its end pushes say \(again)")
        },
        Scenario("F71", "names that look alike, are empty, or far too long", quick: true) { context in
            let server = try context.server()
            let names = ["é", "e\u{301}", "a\u{0}", "a", "a\u{0}b", "\u{200b}a", String(repeating: "n", count: 1024)]
            let gate = context.directory + "/gate"
            let jobs = try names.map { name in
                var options = JobOptions()
                options.name = name
                options.unique = .drop
                options.gate = gate
                return try context.job("gate", options)
            }
            let outcomes = try await context.push(jobs).map(\.outcome)
            context.expect(outcomes.allSatisfy { $0 == .accepted }, "names that differ were taken for one: \(outcomes)")
            let locks = try server.run("HLEN", ScenarioContext.key("unique"))
            context.expect(locks == "\(names.count)", "\(locks) locks for \(names.count) names")
            for name in ["", String(repeating: "n", count: 1025)] {
                do throws(DescriptionError) {
                    _ = try OperationDescription("gate", queue: ScenarioContext.queue, name: name, unique: .drop)
                    context.expect(false, "a name of \(name.utf8.count) bytes was let through")
                } catch { context.injected() }
            }
            try Data().write(to: URL(fileURLWithPath: gate))
            try await context.worker()
        },
        Scenario("F74", "producers and workers of other versions", quick: true) { context in
            let server = try context.server()
            // A description of the next version, in an envelope of this one; and an envelope of the next version.
            let later = #"{"v":2,"operation":"mark","arguments":{}}"#
            let bodies = [
                "next-description": "1i5;;;31\n\"operation\":\"mark\",\"name\":null\(later)",
                "next-envelope": "2i5;;;31\n\"operation\":\"mark\",\"name\":null{}",
            ]
            for (id, body) in bodies.sorted(by: { $0.key < $1.key }) {
                try await context.write(
                    "HSET",
                    [
                        Array(ScenarioContext.key("body").utf8), Array(id.utf8),
                        Array("\(ScenarioContext.now)\(body)".utf8),
                    ]
                )
                try server.run("RPUSH", ScenarioContext.key("ready:5"), id)
            }
            // A description with an unknown member, a minor addition.
            let more = try OperationDescription(
                json: Array(
                    #"{"operation":"mark","queue":"\#(ScenarioContext.queue)","colour":"blue","arguments":{"also":1}}"#
                        .utf8
                )
            ).makeEnvelope()
            try await context.push([more])
            try await context.worker()
            try await context.drain()
            for record in try await context.console.inspect(bodies.keys.sorted(), on: ScenarioContext.queue) {
                context.expect(
                    record?.state == .dead && record?.body.isEmpty == false,
                    "it was not kept: \(String(describing: record))"
                )
                context.injected()
            }
            _ = try await context.console.delete(bodies.keys.sorted(), on: ScenarioContext.queue)
        },
        Scenario(
            "F75",
            "a rolling deployment: workers are replaced one by one, with other operations",
            quick: true
        ) { context in
            context.rules { $0.forbidsDuplicates = true }
            try context.server()
            let load = context.load(rate: 50, "nap") { $0.milliseconds = 30 }
            let others = context.load(rate: 20, "mark")
            var workers = try await context.workers(3) { $0.without = ["mark"] }
            for round in 0..<context.size(quick: 2, full: 5) {
                for index in workers.indices {
                    let isOld = round % 2 == 1
                    workers[index].signal(SIGTERM)
                    let status = try await workers[index].end(within: .seconds(15))
                    context.expect(status == 0, "a worker left with \(status)")
                    workers[index] = try await context.worker { $0.without = isOld ? ["nap"] : [] }
                    context.injected()
                }
            }
            try await load.stop()
            try await others.stop()
            for worker in workers { worker.signal(SIGTERM) }
            for worker in workers { _ = try await worker.end() }
            try await context.worker()
            try await context.drain()
            let totals = try await context.totals()
            context.expect(totals["recovered"] == 0 && totals["failed"] == 0, "jobs had to be recovered, or failed")
        },
    ]
}

extension Program {
    /// Its current memory in megabytes.
    var residentMegabytes: Int {
        let text = (try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
        return (line.split(separator: " ").compactMap { Int($0) }.first ?? 0) / 1024
    }
}
