import Configuration
import Errand
import ErrandDashboard
import ErrandRedis
import Foundation
import Hummingbird
import Logging
import Photos

/// The web service: takes uploads, pushes jobs, and tells the page how far they are.
@main
struct PhotoServer {
    static func main() async throws {
        let environment = ConfigReader(provider: EnvironmentVariablesProvider())
        let logger = Logger(label: "photo-server")
        let broker = try RedisBroker(config: environment.scoped(to: "errand"), logger: logger)
        let store = try PhotoStore(URL(filePath: environment.string(forKey: "photos.directory", default: "photos")))

        let router = Router()
        PhotoRoutes(store: store, producer: Producer(broker: broker, middleware: [TracingMiddleware()]))
            .add(to: router)
        JobFeed(broker: broker).add(to: router)
        // What operators look at, beside the service itself; for reading only.
        ErrandDashboard(broker: broker, title: "Photos").addRoutes(to: router, at: "/errand")

        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: environment.int(forKey: "port", default: 8080))),
            onServerRunning: { channel in
                logger.info("serving", metadata: ["port": "\(channel.localAddress?.port ?? 0)"])
            },
            logger: logger
        )
        try await application.runService()
        broker.close()
    }
}
