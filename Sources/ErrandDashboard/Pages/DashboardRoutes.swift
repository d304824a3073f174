import Hummingbird
import NIOCore

/// The dashboard's routes, below the place where it begins.
///
/// What an application's groups put in front of that place, only a request tells: all of its path but the end that is ours.
struct DashboardRoutes<Context: RequestContext> {
    /// Makes an answer, at a controller that knows where the dashboard begins.
    typealias Answer = @Sendable (DashboardController, Request, Context) async -> Response

    let dashboard: ErrandDashboard
    let group: RouterGroup<Context>

    func get(_ path: RouterPath, _ answer: @escaping Answer) {
        group.get(path) { [dashboard] request, context in
            let controller = DashboardController(dashboard, asked: request, from: Self.address(of: context), for: path)
            return await answer(controller, request, context)
        }
    }

    func post(_ path: RouterPath, _ answer: @escaping Answer) {
        group.post(path) { [dashboard] request, context in
            let controller = DashboardController(dashboard, asked: request, from: Self.address(of: context), for: path)
            return await answer(controller, request, context)
        }
    }

    private static func address(of context: Context) -> String? {
        (context as? any RemoteAddressRequestContext)?.remoteAddress?.ipAddress
    }
}

extension DashboardController {
    /// A controller for one request.
    ///
    /// - Parameters:
    ///   - address: where the request came from, as far as that is known.
    ///   - route: what of the request's path is the dashboard's own.
    init(_ dashboard: ErrandDashboard, asked request: Request, from address: String?, for route: RouterPath) {
        // As the router sees it: without empty parts, of which two in front would make another host of a link. Browsers take a
        // backslash for a slash.
        let parts = request.uri.path.split(separator: "/").map { $0.replacing("\\", with: "%5C") }
        self.init(
            dashboard: dashboard,
            base: parts.dropLast(route.count).map { "/\($0)" }.joined(),
            path: parts.suffix(route.count).map { "/\($0)" }.joined(),
            address: address
        )
    }
}
