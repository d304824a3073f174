import Errand
import ErrandDashboard
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Testing

/// An access rule that receives the application's own request context.
@Suite struct DashboardContextTests {
    private struct UserContext: RequestContext {
        struct Source: RequestContextSource {
            let user: String?
            var logger: Logger { Logger(label: "asked") }
        }

        var coreContext: CoreRequestContextStorage
        /// The user, whom the application's own middleware has found.
        let user: String?

        init(source: Source) {
            coreContext = CoreRequestContextStorage(source: source)
            user = source.user
        }
    }

    private func status(_ method: HTTPRequest.Method, _ path: String, as user: String?) async throws -> Int {
        let broker = MemoryBroker()
        _ = try await broker.createQueue("images")
        let router = Router(context: UserContext.self)
        ErrandDashboard(broker: broker) { _ in .none }.addRoutes(to: router) { _, context in
            guard let user = context.user else { return .none }
            return user == "operator" ? .acting(as: user) : .reading(as: user)
        }
        let headers: HTTPFields = method == .get ? [:] : [.origin: "http://localhost"]
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "localhost",
            path: "/errand" + path,
            headerFields: headers
        )
        let response = try await router.buildResponder().respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
            context: UserContext(source: UserContext.Source(user: user))
        )
        return Int(response.status.code)
    }

    @Test func theRuleSeesTheUserOfTheContext() async throws {
        #expect(try await status(.get, "/jobs", as: nil) == 403)
        #expect(try await status(.get, "/jobs", as: "reader") == 200)
        #expect(try await status(.post, "/queues/images/pause", as: "reader") == 403)
        #expect(try await status(.post, "/queues/images/pause", as: "operator") == 303)
    }
}
