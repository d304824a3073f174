public import Errand
public import Hummingbird
public import Logging

/// A page that shows what a broker's queues do, and lets operators act.
///
/// It is made of ordinary routes, so it lives inside a Hummingbird application:
///
/// ```swift
/// ErrandDashboard(broker: broker).addRoutes(to: router, at: "/errand")
/// ```
///
/// Unless an access rule says more, everybody who reaches the routes may read and nobody may act; put it behind the
/// authentication that the application has, and say who may act:
///
/// ```swift
/// ErrandDashboard(broker: broker) { request in
///     guard let user = await session(of: request)?.user else { return .none }
///     return user.isOperator ? .acting(as: user.name) : .reading(as: user.name)
/// }
/// .addRoutes(to: router, at: "/errand")
/// ```
public struct ErrandDashboard: Sendable {
    /// Says what whoever sent a request may do.
    public typealias AccessRule = @Sendable (Request) async -> DashboardAccess
    /// Says it by the address, too, that the request came from: where the router's context knows it.
    package typealias VisitorRule = @Sendable (Request, _ address: String?) async -> DashboardAccess

    let broker: any Broker
    let title: String
    let access: VisitorRule
    let hosts: HostRule
    let sampler: Sampler
    let actions: ActionLog
    let runs = BulkRuns()
    let listeners = Listeners()
    let pages: PageRenderer

    /// Makes a dashboard, which looks at the queues every two seconds from now on, for as long as it is in use.
    ///
    /// - Parameters:
    ///   - broker: whose queues it shows.
    ///   - title: the name at the top of every page.
    ///   - hosts: which `Host` headers are answered; see ``HostRule``.
    ///   - logger: gets a line for every action, with who did it and what became of it.
    ///   - access: says what whoever sent a request may do.
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

    /// Makes a dashboard as the other initializer does.
    ///
    /// - Parameters:
    ///   - broker: whose queues it shows.
    ///   - title: the name at the top of every page.
    ///   - hosts: which `Host` headers are answered; see ``HostRule``.
    ///   - logger: gets a line for every action, with who did it and what became of it.
    ///   - visitors: says what whoever sent a request from an address may do.
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
        sampler = Sampler(broker: broker)
        actions = ActionLog(logger: logger)
        pages = PageRenderer()
    }

    /// Adds the dashboard's pages to a router, or to a group of its routes.
    ///
    /// - Parameters:
    ///   - router: the router or group; links on the pages begin with the group's path.
    ///   - path: where the pages begin, such as `/errand`; the empty text puts them at the root.
    public func addRoutes<Context: RequestContext>(to router: some RouterMethods<Context>, at path: String = "/errand")
    {
        let routes = DashboardRoutes(dashboard: self, group: router.group(RouterPath(path)))
        DashboardController.addPages(to: routes)
        DashboardController.addActions(to: routes)
        DashboardController.addFeeds(to: routes)
        DashboardController.addHealth(to: routes)
    }
}
