import Hummingbird
import NIOCore

/// The dashboard's routes below its base.
///
/// Groups of the application may prefix the base. Only a request shows this prefix: it is the path without the
/// dashboard's own end.
struct DashboardRoutes<Context: RequestContext> {
    /// Makes a response with the controller of the request.
    typealias Answer = @Sendable (DashboardController, Request, Context) async -> Response

    let dashboard: ErrandDashboard
    let group: RouterGroup<Context>
    /// The rule of these routes, if it is not the dashboard's own.
    let access: (@Sendable (Request, Context) async -> DashboardAccess)?

    func get(_ path: RouterPath, _ answer: @escaping Answer) {
        group.get(path) { [dashboard, access] request, context in
            let controller = await Self.controller(dashboard, access, request, context, path)
            return await answer(controller, request, context)
        }
    }

    func post(_ path: RouterPath, _ answer: @escaping Answer) {
        group.post(path) { [dashboard, access] request, context in
            let controller = await Self.controller(dashboard, access, request, context, path)
            return await answer(controller, request, context)
        }
    }

    /// Makes the controller of a request.
    private static func controller(
        _ dashboard: ErrandDashboard,
        _ access: (@Sendable (Request, Context) async -> DashboardAccess)?,
        _ request: Request,
        _ context: Context,
        _ path: RouterPath
    ) async -> DashboardController {
        var dashboard = dashboard
        if let permissions = await access?(request, context) { dashboard.access = { _, _ in permissions } }
        return DashboardController(dashboard, asked: request, from: address(of: context), for: path)
    }

    private static func address(of context: Context) -> String? {
        (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress
    }
}

extension DashboardController {
    /// Makes the controller of one request.
    ///
    /// - Parameters:
    ///   - address: The remote address, if it is known.
    ///   - route: The dashboard's own part of the request's path.
    init(_ dashboard: ErrandDashboard, asked request: Request, from address: String?, for route: RouterPath) {
        // Split as the router does: without empty components. Two leading slashes would make a link to another host,
        // and browsers treat a backslash as a slash.
        let parts = request.uri.path.split(separator: "/").map { $0.replacing("\\", with: "%5C") }
        self.init(
            dashboard: dashboard,
            base: parts.dropLast(route.count).map { "/\($0)" }.joined(),
            path: parts.suffix(route.count).map { "/\($0)" }.joined(),
            address: address
        )
    }
}
