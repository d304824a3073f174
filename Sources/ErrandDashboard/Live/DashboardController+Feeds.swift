import Errand
import ErrandOperator
import HTTPTypes
import Hummingbird
import NIOCore

extension DashboardController {
    /// Adds the routes of assets, event streams and data for other programs.
    static func addFeeds<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.get("assets/:name") { controller, request, context in
            await controller.answer(request, needing: .none) { _ in
                try controller.asset(context.parameters.get("name") ?? "")
            }
        }
        routes.get("events/stream") { controller, request, _ in
            await controller.answer(request, needing: .reading) { pageRequest in try controller.listen(pageRequest) }
        }
    }

    private func listen(_ pageRequest: PageRequest) throws -> Response {
        let queue = try pageRequest.query["queue"].map { try queueName($0) }
        guard let place = dashboard.listeners.enter() else {
            let advice = "too many listen to events already; close some pages"
            throw PageProblem(status: .serviceUnavailable, message: advice)
        }
        return EventFeed(broker: broker, queue: queue, place: place).response
    }

    private func asset(_ name: String) throws -> Response {
        let assets: [String: (String, [UInt8])] = [
            "errand.css": ("text/css; charset=utf-8", PackageResources.errand_css),
            "errand.js": ("text/javascript; charset=utf-8", PackageResources.errand_js),
            "icon.svg": ("image/svg+xml", PackageResources.icon_svg),
        ]
        guard let (type, bytes) = assets[name] else { throw PageProblem.notFound("there is no such file") }
        return Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "max-age=300"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }
}
