import ErrandDashboard
import ErrandRedis
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization
import TestSupport

/// A dashboard inside an application, on a broker with jobs.
struct DashboardScene: Sendable {
    let server: RedisServer
    let desk: Desk
    let log = LogKeeper()

    init(_ server: RedisServer? = nil) async throws {
        self.server = try server ?? RedisServer()
        desk = try await Desk(self.server, queues: ["images", "files"])
    }

    func push(_ lines: String...) async throws {
        let input = lines.joined(separator: "\n")
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: input)
        if output.status != 0 { throw TestFailure(output.error) }
    }

    /// The response of a page or an action.
    ///
    /// - Parameters:
    ///   - access: The permissions of the user.
    ///   - headers: Further headers, besides those that a browser sends for a form of the dashboard.
    func ask(
        _ path: String,
        _ form: [(String, String)]? = nil,
        as access: DashboardAccess = .acting(as: "Ada"),
        hosts: HostRule = .any,
        headers: HTTPFields? = nil
    ) async throws -> (status: Int, text: String, headers: HTTPFields) {
        let log = log
        let logger = Logger(label: "dashboard") { _ in log.handler }
        let dashboard = ErrandDashboard(broker: desk.broker, hosts: hosts, logger: logger) { _ in access }
        return try await Self.ask(dashboard, path, form, headers)
    }

    /// The last page of a list: on a busy machine an earlier one may be empty and offer to continue.
    func askOn(_ path: String) async throws -> String {
        var page = try await ask(path).text
        while let next = page.firstMatch(of: /href="\/errand([^"]*)" rel="next"/)?.1,
            page.contains("No such jobs so far")
        {
            page = try await ask(String(next).replacing("&amp;", with: "&")).text
        }
        return page
    }

    /// A form like that of a page that is not UTF-8.
    private static func latin1(_ text: String) -> String {
        text.unicodeScalars.map { $0.isASCII ? String($0) : "%" + String($0.value, radix: 16) }.joined()
    }

    /// The response of a page or an action of a dashboard.
    ///
    /// - Parameters:
    ///   - group: The path of the application's group that contains the dashboard.
    ///   - place: The requested path.
    static func ask(
        _ dashboard: ErrandDashboard,
        _ path: String,
        _ form: [(String, String)]? = nil,
        _ headers: HTTPFields? = nil,
        in group: RouterPath = "",
        at place: String = "/errand",
        inLatin1 isLatin1: Bool = false
    ) async throws -> (status: Int, text: String, headers: HTTPFields) {
        let router = Router(context: AskedContext.self)
        dashboard.addRoutes(to: router.group(group), at: "/errand")
        let body = form.map { form in
            ByteBuffer(string: form.map { "\($0.0)=\(isLatin1 ? latin1($0.1) : encode($0.1))" }.joined(separator: "&"))
        }
        var fields = headers ?? (form == nil ? [:] : [.origin: "http://localhost"])
        if let body { fields[.contentLength] = "\(body.readableBytes)" }
        let head = HTTPRequest(
            method: form == nil ? .get : .post,
            scheme: "http",
            authority: "localhost",
            path: place + path,
            headerFields: fields
        )
        let response = try await router.buildResponder().respond(
            to: Request(head: head, body: RequestBody(buffer: body ?? ByteBuffer())),
            context: AskedContext(source: AskedContext.Source())
        )
        let answer = AnswerText()
        try await response.body.write(answer)
        return (response.status.code, answer.text, response.headers)
    }

    private static func encode(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

/// The context of a request without a connection.
private struct AskedContext: RequestContext {
    struct Source: RequestContextSource {
        var logger: Logger { Logger(label: "asked") }
    }

    var coreContext: CoreRequestContextStorage

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// Collects the body of a response.
private final class AnswerText: ResponseBodyWriter, Sendable {
    private let bytes = Mutex(ByteBuffer())

    var text: String { bytes.withLock { String(buffer: $0) } }

    func write(_ buffer: ByteBuffer) { bytes.withLock { _ = $0.writeImmutableBuffer(buffer) } }

    func finish(_ trailingHeaders: HTTPFields?) {}
}

/// Records log entries.
final class LogKeeper: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }
    var handler: any LogHandler { Handler(keeper: self) }

    private func keep(_ line: String) { kept.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let keeper: LogKeeper
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
        func log(event: LogEvent) {
            let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            keeper.keep("\(event.message) \(facts.joined(separator: " "))")
        }
    }
}
