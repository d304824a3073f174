import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandDashboard
import ErrandRedis
import Foundation
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// The entry point of the executable.
@main
enum Program {
    static func main() async {
        ProcessStart.prepare()
        Daemon.begin()
        await DashboardCommand.start()
    }
}

/// The command `errand-dashboard`.
struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "errand-dashboard",
        abstract: "Serves web pages that show a broker's queues and let operators act.",
        discussion: """
            By default it listens on this machine only and changes nothing. To listen elsewhere it needs a file of users; put \
            it behind a proxy with TLS then, because every request contains the password.

            A line of the users file is name:password. Only its owner may have permission to read it. Without a file, the \
            password of the user errand may be in ERRAND_DASHBOARD_PASSWORD, and that of the user reader, which can only \
            read, in ERRAND_DASHBOARD_READER_PASSWORD.

            With --allow-actions every user can act except those that --reader names, which suffices for programs that read \
            /metrics and /scale.

            Besides pages it serves /metrics (Prometheus), /scale?queue=Q (autoscalers), /healthz and /readyz.

            Examples:
              errand-dashboard
              errand-dashboard --allow-actions --port 9000 --redis redis://queue.internal:6379
              errand-dashboard --host 0.0.0.0 --users /etc/errand/users --allow-actions --reader prometheus
            """,
        version: ErrandVersion.current
    )

    @Option(help: ArgumentHelp("The address to listen on.", valueName: "address"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The port to listen on; 0 for any.", valueName: "port"))
    var port = 8080

    @Flag(help: "Let all users except readers pause, cancel, retry, edit and delete.")
    var allowActions = false

    @Option(
        help: ArgumentHelp("A file with a line name:password for each user.", valueName: "file")
    )
    var users: String?

    @Option(
        name: .customLong("reader"),
        help: ArgumentHelp("A user that can only read; may be given several times.", valueName: "name")
    )
    var readers: [String] = []

    @Flag(help: "Generate a password for the user errand, and print it on standard error.")
    var generatePassword = false

    @Option(
        name: .customLong("allow-host"),
        help: ArgumentHelp(
            "A name under which a proxy on this machine serves the pages; may be given several times.",
            valueName: "name"
        )
    )
    var allowedHosts: [String] = []

    @Option(help: ArgumentHelp("The name at the top of the pages.", valueName: "text"))
    var title = "Errand"

    @Option(help: ArgumentHelp("How the log is written to standard error: text or json.", valueName: "format"))
    var logFormat = LogFormat.text

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port must be 0 to 65535") }
    }

    func run() async throws {
        if logFormat == .json { StandardError.writeEntries(of: "errand-dashboard") }
        let users = try await reportingFailures { try knownUsers() }
        try await reportingFailures { try checkReach(users) }
        let logger = CommandLogger.make("errand-dashboard", level: .notice, format: logFormat)
        try await broker.withBroker(as: "errand-dashboard", patience: .seconds(5), logFormat: logFormat) { broker in
            let application = application(broker, users, logger)
            let check = BrokerCheck(broker: broker, logger: logger)
            do { try await serve(application, check, logger) } catch let error as BrokerError {
                throw error
            } catch {
                throw failure(error)
            }
        }
    }

    private func failure(_ error: any Error) -> CommandFailure {
        let place = "\(host):\(port)"
        let message =
            switch (error as? IOError)?.errnoCode {
            case EADDRINUSE: "cannot listen on \(place): another program uses this port; choose another with --port"
            case EACCES: "cannot listen on \(place): ports below 1024 need privileges; choose another with --port"
            default: "cannot serve on \(place): \(error)"
            }
        return CommandFailure(message, ExitStatus.unavailable)
    }

    /// Serves until a signal stops it, gracefully or immediately.
    private func serve(
        _ application: some ApplicationProtocol,
        _ check: BrokerCheck,
        _ logger: Logger
    ) async throws {
        let services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: application), .init(service: check),
        ]
        let group = ServiceGroup(configuration: .init(services: services, logger: logger))
        StopSignals.listen { request, signal in
            if request == .immediate { Foundation.exit(128 + signal) }
            Task { await group.triggerGracefulShutdown() }
        }
        try await group.run()
    }

    /// Reads the users; `nil` if there are none, so that requests need no credentials.
    private func knownUsers() throws(CommandFailure) -> Users? {
        var known = Users()
        if let users { known = try Users(file: users) } else { addUsersOfTheEnvironment(to: &known) }
        for name in readers { try known.restrict(name) }
        return known.isEmpty ? nil : known
    }

    private func addUsersOfTheEnvironment(to known: inout Users) {
        let environment = ProcessInfo.processInfo.environment
        if let password = environment["ERRAND_DASHBOARD_PASSWORD"], !password.isEmpty {
            known.add("errand", password: password[...])
        } else if generatePassword {
            known.add("errand", password: madeUpPassword()[...])
        }
        if let password = environment["ERRAND_DASHBOARD_READER_PASSWORD"], !password.isEmpty {
            known.addReader("reader", password: password[...])
        }
    }

    private func madeUpPassword() -> String {
        let letters = Array("abcdefghijkmnpqrstuvwxyz23456789")
        let password = String((0..<20).compactMap { _ in letters.randomElement() })
        StandardError.write("dashboard: user errand, password \(password)")
        return password
    }

    /// Rejects an address other than loopback without users.
    private func checkReach(_ users: Users?) throws(CommandFailure) {
        if users != nil || ["127.0.0.1", "::1", "localhost"].contains(host) { return }
        throw CommandFailure(
            "listening on \(host) needs users: --users FILE, ERRAND_DASHBOARD_PASSWORD or --generate-password; without them only this machine can connect",
            ExitStatus.badConfiguration
        )
    }

    private func application(_ broker: RedisBroker, _ users: Users?, _ logger: Logger) -> some ApplicationProtocol {
        let mayAct = allowActions
        let keeper = users.map { Authenticator($0, allowsActions: mayAct, log: LoginLog(logger)) }
        let dashboard = ErrandDashboard(
            broker: broker,
            title: title,
            hosts: users == nil ? .loopback(and: Set(allowedHosts)) : .any,
            logger: logger,
            visitors: { request, address in
                guard let keeper else { return mayAct ? .acting(as: "local") : .reading(as: "local") }
                return await keeper.access(of: request, from: address)
            }
        )
        // HEAD routes serve clients that only check whether a page exists.
        let router = Router(context: UserContext.self, options: .autoGenerateHeadEndpoints)
        dashboard.addRoutes(to: router, at: "")
        return Application(
            router: router,
            // Closes connections of clients that send nothing or half a request.
            server: .http1(configuration: .init(idleTimeout: .seconds(15))),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in
                let address = channel.localAddress
                let place = address?.ipAddress.map { $0.contains(":") ? "[\($0)]" : $0 } ?? host
                StandardError.write("dashboard: http://\(place):\(address?.port ?? port)/")
            },
            logger: CommandLogger.make("errand-dashboard.http", level: .warning, format: logFormat)
        )
    }
}
