import Errand
import ErrandCatalogue
import Testing

/// Workflows in files of YAML and JSON.
@Suite struct WorkflowFileTests {
    private static let yaml = """
        workflow: import 42
        on_dead: cancel_rest
        jobs:
          fetch: {operation: fetch, arguments: {url: "https://example.org", pages: 3, exact: "3"}, queue: net}
          parse: {operation: parse, after: fetch}
          report:
            operation: report
            after:
              - parse
              - fetch
            when: any_end
        on_success: {operation: cleanup}
        on_failure:
          operation: alert
        """

    private static let json = """
        {"workflow":"import 42","on_dead":"cancel_rest","jobs":{
        "fetch":{"operation":"fetch","arguments":{"url":"https://example.org","pages":3,"exact":"3"},"queue":"net"},
        "parse":{"operation":"parse","after":"fetch"},
        "report":{"operation":"report","after":["parse","fetch"],"when":"any_end"}},
        "on_success":{"operation":"cleanup"},"on_failure":{"operation":"alert"}}
        """

    @Test(arguments: ["flow.yaml", "flow.yml", "flow.json", "flow", "standard input"])
    func `YAML and JSON are the same workflow, whatever the file is called`(source: String) throws {
        let expected = try WorkflowDescription(json: Self.json)
        #expect(expected.jobs.map(\.key) == ["fetch", "parse", "report"])
        #expect(try WorkflowFile.parse(Array(Self.json.utf8), source: source) == expected)
        guard !source.hasSuffix(".json") else { return }
        #expect(try WorkflowFile.parse(Array(Self.yaml.utf8), source: source) == expected)
    }

    @Test func `YAML may begin with a brace`() throws {
        let text = "{workflow: w, jobs: {a: {operation: x}, b: {operation: y, after: [a]}}}"
        #expect(try WorkflowFile.parse(Array(text.utf8), source: "-").jobs.map(\.after) == [[], ["a"]])
    }

    @Test(arguments: [
        ("jobs:\n  a:\n    operation: x\n", "f.yaml:1: invalid workflow: workflow: is missing"),
        (
            "workflow: w\njobs:\n  a: {operation: x}\n  b:\n    operation: y\n    after:\n      - a\n      - c\n",
            #"f.yaml:8: invalid workflow: jobs.b.after[1]: no job has the key "c""#
        ),
        (
            "workflow: w\njobs:\n  a:\n    operation: x\n    afer: [b]\n",
            "f.yaml:5: invalid workflow: jobs.a.afer: is not a"
        ),
        ("workflow: 42\njobs: {a: {operation: x}}\n", "f.yaml:1: invalid workflow: workflow: must be"),
        ("workflow: w\njobs:\n  a: {operation: x}\n  a: {operation: y}\n", "f.yaml:"),
        ("workflow: [", "f.yaml:"),
        ("", "f.yaml: is empty; it needs the keys"),
    ])
    func `an error has the line and the place`(yaml: String, beginning: String) throws {
        let error = #expect(throws: WorkflowFileError.self) {
            try WorkflowFile.parse(Array(yaml.utf8), source: "f.yaml")
        }
        #expect(error?.description.hasPrefix(beginning) == true, "\(String(describing: error))")
    }

    @Test func `an error in JSON of one line has the column`() throws {
        let text = #"{"workflow":"w","jobs":{"a":{"operation":"x","priority":12}}}"#
        let error = #expect(throws: WorkflowFileError.self) {
            try WorkflowFile.parse(Array(text.utf8), source: "f.json")
        }
        #expect(error?.description.contains("jobs.a.priority at column 57:") == true, "\(String(describing: error))")
    }

    @Test func `an error in JSON of several lines has the line`() throws {
        for (job, beginning) in [
            (#""a":{"operation":"x","priority":12}"#, "f.json:3: invalid workflow: jobs.a.priority at line 3, column"),
            (#""a":{"operation":"x","after":"b"}"#, "f.json:3: invalid workflow: jobs.a.after[0]: no job has the key"),
            (#""a":{"operation":"x"},"#, "f.json:4: invalid workflow: jobs at line 4, column"),
        ] {
            let text = "{\"workflow\": \"w\",\n \"jobs\": {\n  \(job)\n}}\n"
            let error = #expect(throws: WorkflowFileError.self) {
                try WorkflowFile.parse(Array(text.utf8), source: "f.json")
            }
            #expect(error?.description.hasPrefix(beginning) == true, "\(String(describing: error))")
        }
    }

    @Test func `an error of a change has the line and the place`() throws {
        struct Refusal: Error, CustomStringConvertible { let description = "has no customer" }
        let yaml = "workflow: w\njobs:\n  a: {operation: x}\n  b: {operation: y}\n"
        let error = #expect(throws: WorkflowFileError.self) {
            try WorkflowFile.parse(Array(yaml.utf8), source: "f.yaml") { job in
                if job.operation == "y" { throw Refusal() }
                return job
            }
        }
        #expect(error?.description == "f.yaml:4: invalid workflow: jobs.b: has no customer")
    }

    @Test func `JSON that is not closed is reported as JSON`() throws {
        let error = #expect(throws: WorkflowFileError.self) {
            try WorkflowFile.parse(Array(#"{"workflow":"w","jobs":{"#.utf8), source: "-")
        }
        #expect(error?.description.contains("jobs at column") == true, "\(String(describing: error))")
    }

    @Test func `a file that is not there is named`() throws {
        let error = #expect(throws: WorkflowFileError.self) { try WorkflowFile.read("/nowhere/flow.yaml") }
        #expect(error?.description == "/nowhere/flow.yaml cannot be read: there is no such file")
    }
}
