public import Errand
public import Hummingbird
public import Logging

/// A web dashboard that shows a broker's queues and lets operators act on them.
///
/// It consists of ordinary routes and runs inside a Hummingbird application:
///
/// ```swift
/// ErrandDashboard(broker: broker).addRoutes(to: router, at: "/errand")
/// ```
///
/// Without an access rule, every request that reaches the routes may read, and none may act. Put the dashboard behind
/// the application's authentication and return each user's permissions:
///
/// ```swift
/// ErrandDashboard(broker: broker) { request in
///     guard let user = await session(of: request)?.user else { return .none }
///     return user.isOperator ? .acting(as: user.name) : .reading(as: user.name)
/// }
/// .addRoutes(to: router, at: "/errand")
/// ```
public struct ErrandDashboard: Sendable {
    /// A function that returns the permissions of the sender of a request.
    public typealias AccessRule = @Sendable (Request) async -> DashboardAccess
    /// An access rule that also receives the remote address, if the router's context has it.
    package typealias VisitorRule = @Sendable (Request, _ address: String?) async -> DashboardAccess

    let broker: any Broker
    let title: String
    var access: VisitorRule
    let hosts: HostRule
    let queues: KnownQueues
    let sampler: Sampler
    let statistics: StatisticsCache
    let actions: ActionLog
    let runs = BulkRuns()
    let listeners = Listeners()
    let pages: PageRenderer

    /// Makes a dashboard. It reads all queues every two seconds for as long as it exists, and once a minute samples their
    /// counts for the statistics at the broker, as workers do, so that charts also show queues without workers.
    ///
    /// - Parameters:
    ///   - broker: The broker whose queues it shows.
    ///   - title: The name at the top of every page.
    ///   - hosts: The accepted `Host` headers; see ``HostRule``.
    ///   - logger: Receives an entry for every action, with the user and the outcome.
    ///   - access: Returns the permissions of the sender of a request.
    public init(
        broker: any Broker,
        title: String = "Errand",
        hosts: HostRule = .any,
        logger: Logger = Logger(label: "errand.dashboard"),
        access: @escaping AccessRule = { _ in .reading() }
    ) {
        self.init(
            broker: broker,
            title: title,
            hosts: hosts,
            logger: logger,
            visitors: { request, _ in await access(request) }
        )
    }

    /// Makes a dashboard whose access rule also receives the remote address.
    ///
    /// - Parameters:
    ///   - broker: The broker whose queues it shows.
    ///   - title: The name at the top of every page.
    ///   - hosts: The accepted `Host` headers; see ``HostRule``.
    ///   - logger: Receives an entry for every action, with the user and the outcome.
    ///   - visitors: Returns the permissions of the sender of a request from an address.
    package init(
        broker: any Broker,
        title: String,
        hosts: HostRule,
        logger: Logger,
        visitors access: @escaping VisitorRule
    ) {
        self.broker = broker
        self.title = title
        self.hosts = hosts
        self.access = access
        queues = KnownQueues(broker: broker)
        sampler = Sampler(broker: broker, queues: queues)
        statistics = StatisticsCache(broker: broker)
        actions = ActionLog(logger: logger)
        pages = PageRenderer()
    }

    /// Adds the dashboard's pages to a router or to a group of its routes.
    ///
    /// - Parameters:
    ///   - router: The router or group; links on the pages begin with the group's path.
    ///   - path: The path of the overview, such as `/errand`; an empty string puts it at the root.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>, at path: String = "/errand")
    {
        addRoutes(DashboardRoutes(dashboard: self, group: router.group(RouterPath(path)), access: nil))
    }

    /// Adds the dashboard's pages to a router whose middleware has found out who the user is.
    ///
    /// ```swift
    /// ErrandDashboard(broker: broker).addRoutes(to: router, at: "/errand") { _, context in
    ///     guard let user = context.user else { return .none }
    ///     return user.isOperator ? .acting(as: user.name) : .reading(as: user.name)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - router: The router or group; links on the pages begin with the group's path.
    ///   - path: The path of the overview, such as `/errand`; an empty string puts it at the root.
    ///   - access: Returns the permissions of the sender of a request, from the request and its context. It takes the
    ///     place of the dashboard's own rule, and is called for every request.
    public func addRoutes<Context: RequestContext>(
        to router: some RouterMethods<Context>,
        at path: String = "/errand",
        access: @escaping @Sendable (Request, Context) async -> DashboardAccess
    ) {
        addRoutes(DashboardRoutes(dashboard: self, group: router.group(RouterPath(path)), access: access))
    }

    private func addRoutes<Context: RequestContext>(_ routes: DashboardRoutes<Context>) {
        DashboardController.addPages(to: routes)
        DashboardController.addActions(to: routes)
        DashboardController.addFeeds(to: routes)
        DashboardController.addHealth(to: routes)
    }
}
