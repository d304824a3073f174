import Hummingbird

/// The context of a request whose sender is known.
struct UserContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The user; empty before the middleware has run.
    var user = ""

    init(source: Source) { coreContext = .init(source: source) }
}

/// Lets only requests with a known token pass.
struct UserAuthentication: RouterMiddleware {
    typealias Context = UserContext

    /// The users by their tokens.
    let users: [String: String]

    func handle(
        _ request: Request,
        context: UserContext,
        next: (Request, UserContext) async throws -> Response
    ) async throws -> Response {
        let header = request.headers[.authorization] ?? ""
        guard header.hasPrefix("Bearer "), let user = users[String(header.dropFirst(7))] else {
            throw HTTPError(.unauthorized)
        }
        var context = context
        context.user = user
        return try await next(request, context)
    }
}
