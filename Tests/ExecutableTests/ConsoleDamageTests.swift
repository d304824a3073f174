import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// The console with a damaged queue: it reports the queue and the key, and does everything else.
@Suite struct ConsoleDamageTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    /// Two queues with a job and a dead job each; a ready list of queue z then gets another type.
    private func damage() async throws {
        for queue in ["fine", "z"] {
            let desk = try await Desk(server, queues: [queue])
            try await push("dead-\(queue)", queue)
            try await desk.work(.failed, error: "broken", queue: queue)
            try await push("job-\(queue)", queue)
        }
        try server.run("DEL", "errand:{z}:ready:5")
        try server.run("SET", "errand:{z}:ready:5", "rubbish")
    }

    private func push(_ id: String, _ queue: String) async throws {
        let line = #"{"operation":"work","id":"\#(id)","queue":"\#(queue)","retries":0}"#
        #expect(try await Executable.producer.run(["push", "--from", "-"], on: server, input: line).status == 0)
    }

    private func console(_ arguments: String...) async throws -> Output {
        let output = try await Executable.console.run(arguments, on: server)
        return output
    }

    private func expectReport(_ output: Output, status: Int32 = 1) {
        #expect(output.status == status, "\(output.error)")
        #expect(output.error.contains("errand:{z}:ready:5 is a string"), "\(output.error)")
    }

    @Test func `the status shows the other queues`() async throws {
        try await damage()
        let text = try await console("status")
        expectReport(text)
        #expect(text.text.contains("fine"), "\(text.text)")
        let json = try await console("status", "--json")
        expectReport(json)
        let object = try json.object
        #expect(object["queues"]?.items.compactMap { $0["name"]?.string } == ["fine"])
        #expect(object["unreadable"]?.items.compactMap { $0["queue"]?.string } == ["z"])
    }

    @Test func `the other jobs are listed, those of other states of the queue among them`() async throws {
        try await damage()
        let list = try await console("jobs", "list", "--json")
        expectReport(list)
        #expect(list.error.contains("queue z, ready jobs cannot be read"), "\(list.error)")
        #expect(Set(try list.objects.compactMap { $0["id"]?.string }) == ["job-fine", "dead-fine", "dead-z"])
    }

    @Test func `the other jobs are exported and cancelled`() async throws {
        try await damage()
        let export = try await console("jobs", "export")
        expectReport(export)
        #expect(Set(try export.objects.compactMap { $0["id"]?.string }) == ["job-fine", "dead-fine", "dead-z"])
        #expect(export.error.contains("3 jobs exported"), "\(export.error)")
        let cancel = try await console("jobs", "cancel", "--state", "ready", "--yes")
        expectReport(cancel)
        #expect(cancel.text.contains("1 cancelled"), "\(cancel.text)")
        let shown = try await console("job", "show", "job-fine", "--json")
        #expect(try shown.object["state"] == "cancelled")
    }

    @Test func `rejected actions are reported as not done`() async throws {
        try await damage()
        let delete = try await console("jobs", "delete", "--state", "dead", "--yes", "--json")
        expectReport(delete)
        #expect(try delete.object["verdicts"] == ["deleted": 1, "not_done": 1])
        #expect(!delete.error.contains("perhaps"), "\(delete.error)")
        let one = try await console("job", "delete", "dead-z")
        #expect(one.text == "dead-z not done: queue z cannot be changed\n")
        expectReport(one)
    }

    /// Three queues with two jobs each; the counters of the second have another type.
    private func damageCounters() async throws {
        for queue in ["alpha", "beta", "gamma"] {
            for number in 1...2 { try await push("\(queue)\(number)", queue) }
        }
        try server.run("SET", "errand:{beta}:counters", "boo")
    }

    @Test func `an action skips a queue that cannot be changed, with a warning`() async throws {
        try await damageCounters()
        let cancel = try await console("jobs", "cancel", "--operation", "work", "--yes")
        #expect(cancel.status == 1)
        #expect(cancel.text == "4 cancelled, 2 not done\n")
        let warning = "warning: queue beta cannot be changed: "
        #expect(cancel.error.contains(warning), "\(cancel.error)")
        #expect(cancel.error.contains("errand:{beta}:counters is a string"), "\(cancel.error)")
        #expect(cancel.error.contains("error: 2 jobs not cancelled: 1 queue "), "\(cancel.error)")
        #expect(!cancel.error.contains("the broker failed"), "\(cancel.error)")
        let again = try await console("job", "cancel", "gamma1", "beta1")
        #expect(again.status == 1)
        #expect(again.text.contains("gamma1 ended: there is nothing left to end\n"), "\(again.text)")
        #expect(again.text.contains("beta1 not done: queue beta cannot be changed\n"), "\(again.text)")
        #expect(again.error.contains(warning), "\(again.error)")
        #expect(again.error.contains("error: not done for 2 of 2 jobs, as listed above\n"), "\(again.error)")
    }

    @Test func `an import skips a queue that cannot be changed`() async throws {
        try await damageCounters()
        let lines = ["beta", "gamma"].map { #"{"operation":"work","queue":"\#($0)"}"# }.joined(separator: "\n")
        let output = try await Executable.console.run(["jobs", "import", "-"], on: server, input: lines)
        #expect(output.status == 1)
        #expect(output.error.contains("line 1 not pushed to queue beta: "), "\(output.error)")
        #expect(output.error.contains("errand:{beta}:counters is a string"), "\(output.error)")
        #expect(output.error.contains("1 accepted, 1 not pushed"), "\(output.error)")
    }

    @Test(arguments: [["beta1"], ["beta1", "--queue", "beta"]])
    func `a job whose queue cannot be read is not reported as unknown`(_ arguments: [String]) async throws {
        for id in ["alpha1", "beta1"] { try await push(id, String(id.dropLast())) }
        try server.run("SET", "errand:{beta}:scheduled", "boo")
        let key = "warning: queue beta cannot be read: "
        let show = try await Executable.console.run(["job", "show"] + arguments, on: server)
        #expect(show.status == 1)
        #expect(show.error.contains(key) && show.error.contains("errand:{beta}:scheduled is a string"), "\(show.error)")
        #expect(show.error.contains("error: beta1 cannot be found: queue beta cannot be read"), "\(show.error)")
        for verb in ["cancel", "delete", "retry"] {
            let output = try await Executable.console.run(["job", verb] + arguments, on: server)
            #expect(output.status == 1)
            #expect(output.text == "beta1 unreadable: queue beta cannot be read\n")
            #expect(
                output.error.contains(key) && output.error.contains("errand:{beta}:scheduled is"),
                "\(output.error)"
            )
        }
    }

    @Test(arguments: ["schedules", "timetable", "ticks", "unscheduled"])
    func `a list of schedules names the damaged key`(_ key: String) async throws {
        for queue in ["alpha", "beta"] {
            #expect(try await Executable.console.run(["queue", "create", queue], on: server).status == 0)
            let add = ["schedule", "add", "nightly", "work", "--every", "1h", "--queue", queue]
            #expect(try await Executable.console.run(add, on: server).status == 0)
        }
        try server.run("DEL", "errand:{beta}:\(key)")
        try server.run("SET", "errand:{beta}:\(key)", "boo")
        let output = try await console("schedule", "list")
        #expect(output.status == 1)
        #expect(output.text.contains("alpha"))
        #expect(output.error.contains("warning: queue beta cannot be read: "), "\(output.error)")
        #expect(output.error.contains("errand:{beta}:\(key) is a string"), "\(output.error)")
    }

    @Test func `schedules, the doctor and the worker check still work`() async throws {
        try await damage()
        #expect(try await console("schedule", "list").status == 0)
        let doctor = try await console("doctor", "--json")
        #expect(doctor.status == 1, "\(doctor.error)")
        let report = try doctor.object
        #expect(report["problem"] == .null)
        #expect(report["findings"]?.items.contains { $0["queue"] == "z" } == true)
        #expect(report["advice"]?.items.contains { $0["queue"] == "fine" } == true)
        let check = try await console("worker-check", "--host", "nowhere.example")
        #expect(check.status == 0, "whether the worker serves that queue is not known: \(check.error)")
        #expect(try await console("worker-check", "--host", "desk.example").status == 0)
    }

    @Test func `the dry run of an import reports that the destination rejects writes`() async throws {
        try await damage()
        let payload = #"{"class":"HardJob","args":[1],"jid":"b4a577edbccf1d805744efa9","retry":true,"queue":"z"}"#
        for queue in ["z", "fine"] {
            try server.run("SADD", "queues", queue)
            try server.run("LPUSH", "queue:\(queue)", payload)
        }
        let output = try await console("import", "--from", "sidekiq", "--source", "unix://\(server.socket)", "--json")
        expectReport(output)
        #expect(try output.object["blocked"]?.items.compactMap { $0["queue"]?.string } == ["z"])
        let text = try await console("import", "--from", "sidekiq", "--source", "unix://\(server.socket)")
        #expect(text.text.contains("1 job to move, 1 to leave"), "\(text.text)")
    }

    @Test func `the dashboard shows the rest and reports what is missing`() async throws {
        try await damage()
        let scene = try await DashboardScene(server)
        for page in ["/", "/jobs", "/workers"] {
            let shown = try await scene.ask(page)
            #expect(shown.status == 200, "\(shown.text)")
            #expect(shown.text.contains("errand:{z}:ready:5 is a string"), "\(page): \(shown.text)")
        }
        #expect(try await scene.ask("/").text.contains("fine"))
        let metrics = try await scene.ask("/metrics").text
        #expect(metrics.contains(#"errand_queue_unreadable{queue="z"} 1"#), "\(metrics)")
        #expect(metrics.contains(#"errand_jobs{queue="fine",state="ready"} 1"#), "\(metrics)")
    }
}
