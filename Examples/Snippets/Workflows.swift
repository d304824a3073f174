import Errand
import Foundation
import Logging

/// The pieces of Swift about workflows.
private struct Fetch: JobParameters {
    static let jobName = "fetch"
    let url: String

    init(_ url: String) { self.url = url }
}

private struct Parse: JobParameters { static let jobName = "parse" }
private struct Merge: JobParameters { static let jobName = "merge" }
private struct Report: JobParameters { static let jobName = "report" }
private struct Alert: JobParameters { static let jobName = "alert" }
private struct Cleanup: JobParameters { static let jobName = "cleanup" }
private struct Page: Codable { let links: [String] }

private func importing(_ producer: Producer, _ url: String) async throws {
    let flow = Workflow("import 42") { flow in
        let fetched = flow.add(Fetch(url))
        let parsed = flow.add(Parse(), after: fetched)
        flow.add(Report(), after: parsed, when: .anyEnd)
    }
    flow.onFailure(Alert())
    let receipt = try await producer.push(flow)
    try await producer.result(of: receipt)
}

private func pushing(_ producer: Producer, _ url: String) async throws -> WorkflowReceipt {
    let flow = Workflow("import 42") { flow in
        let fetched = flow.add(Fetch(url))
        flow.add(Parse(), after: fetched)
    }
    let receipt = try await producer.push(flow)
    return receipt
}

private func waiting(_ producer: Producer, _ flow: Workflow) async throws {
    let receipt = try await producer.push(flow)
    try await producer.result(of: receipt, within: .seconds(600))
}

private func sugar(_ producer: Producer, _ url: String, _ links: [String]) async throws {
    try await producer.push(chain: [Fetch(url), Parse(), Report()])
    try await producer.push(batch: links.map { Fetch($0) }, onSuccess: Merge())
}

private func options(_ url: String) -> Workflow {
    Workflow("import 42", queue: "imports", unique: .drop, onDead: .cancelRest) { flow in
        let fetched = flow.add(Fetch(url), key: "page", options: PushOptions(queue: "net", retries: 5))
        flow.add(Parse(), after: fetched)
    }
}

private struct Prepare: JobParameters { static let jobName = "prepare" }
private struct Publish: JobParameters { static let jobName = "publish" }

private struct Probe: JobParameters {
    static let jobName = "probe"
    let file: String

    init(_ file: String) { self.file = file }
}

private struct Transcode: JobParameters {
    static let jobName = "transcode"
    let file: String

    init(_ file: String) { self.file = file }
}

private func sections(_ names: [String]) -> Workflow {
    Workflow("videos") { flow in
        let prepared = flow.add(Prepare())
        let videos = names.flatMap { name in
            flow.section(name, after: [prepared]) { video in
                let probed = video.add(Probe(name))
                video.add(Transcode(name), after: probed)
            }
        }
        flow.add(Publish(), after: videos)
    }
}

private func described() throws -> WorkflowDescription {
    let workflow = try WorkflowDescription(
        "import 42",
        jobs: [
            .init("fetch", try OperationDescription("fetch", arguments: ["url": "https://example.org"])),
            .init("parse", try OperationDescription("parse"), after: ["fetch"]),
        ]
    )
    return workflow
}

private func refused() {
    do {
        _ = try WorkflowDescription(
            json: #"{"workflow":"import","jobs":{"parse":{"operation":"parse","after":["fetsh"]}}}"#
        )
    } catch {
        print(error)  // invalid workflow: jobs.parse.after[0]: no job has the key "fetsh"; …
    }
}

private func adding(_ flow: Workflow, _ url: String) {
    let fetched = flow.add(Fetch(url))
    flow.add(Parse(), after: fetched)
}

private func handlers(_ worker: Worker) {
    worker.registerJob(parameters: Parse.self) { _, context in
        let page = try await context.result(of: "fetch", as: Page.self)
        let links = page.links
        try await context.addToWorkflow { flow in
            let pages = links.map { flow.add(Fetch($0)) }
            flow.add(Merge(), after: pages, when: .anyEnd)
        }
    }
    worker.registerJob(parameters: Alert.self) { _, context in
        context.logger.error("failed", metadata: ["workflow": "\(context.workflow?.id.description ?? "-")"])
    }
}
