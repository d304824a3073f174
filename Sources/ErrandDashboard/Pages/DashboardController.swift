import Errand
import ErrandOperator
import HTTPTypes
import Hummingbird
import NIOCore

/// Lets requests in, and makes answers of pages.
struct DashboardController: Sendable {
    let dashboard: ErrandDashboard
    /// Where the dashboard begins: what is in front of all its links.
    let base: String
    /// The page that is asked for, below the base; empty for the overview.
    let path: String
    /// Where the request came from, as far as that is known.
    let address: String?

    static let formLimit = 2 << 20
    /// A description has a little more than 1 MiB, of which a browser sends three bytes for nearly every one. What is yet larger
    /// is told so by whoever reads it.
    static let editLimit = 8 << 20

    var broker: any Broker { dashboard.broker }

    /// Answers a request with a page, if whoever sent it may see it.
    func show(_ request: Request, _ page: (PageRequest) async throws -> Page) async -> Response {
        await answer(request, needing: .reading) { pageRequest in render(try await page(pageRequest), pageRequest) }
    }

    /// Does something, if whoever asks may act and asks from our own pages; then leads to a page.
    func act(
        _ request: Request,
        upTo limit: Int = Self.formLimit,
        _ action: (PageRequest) async throws -> String
    ) async -> Response {
        await answer(request, needing: .acting, upTo: limit) { pageRequest in
            let place = try await action(pageRequest)
            return Response(status: .seeOther, headers: [.location: base + place])
        }
    }

    /// Answers with whatever `make` makes; problems become pages.
    func answer(
        _ request: Request,
        needing level: DashboardAccess.Level,
        upTo limit: Int = Self.formLimit,
        _ make: (PageRequest) async throws -> Response
    ) async -> Response {
        let access = await dashboard.access(request, address)
        var response: Response
        do {
            try admit(request, access, level)
            let pageRequest = try await pageRequest(request, access, limit)
            response = try await make(pageRequest)
        } catch {
            // What strangers try would push everything else out.
            if level == .acting, access.level > .none { noteRefusal(error, access) }
            response = refusal(error, request, access)
        }
        SecurityHeaders.add(to: &response)
        return response
    }

    /// What was tried is worth as much as what was done, to whoever reads the log of actions.
    private func noteRefusal(_ error: any Error, _ access: DashboardAccess) {
        let problem = PageProblem(explaining: error)
        let outcome = "\(problem.status.code): \(problem.message)"
        dashboard.actions.note(access.user, "refused", String(path.prefix(500)), outcome)
    }

    private func admit(_ request: Request, _ access: DashboardAccess, _ level: DashboardAccess.Level) throws {
        guard dashboard.hosts.admits(request.head.authority) else {
            throw PageProblem(
                status: .misdirectedRequest,
                message: "this dashboard is not known by that name; see --allow-host"
            )
        }
        if access.isTurnedAway, level > .none {
            throw PageProblem(
                status: .tooManyRequests,
                message: "too many passwords are tried at the moment; try again in a second"
            )
        }
        if access.level == .none, level > .none {
            let status: HTTPResponse.Status = access.challenge == nil ? .forbidden : .unauthorized
            throw PageProblem(status: status, message: "you may not see this")
        }
        if request.method == .post, let objection = OriginRule.objection(to: request) {
            throw PageProblem(status: .forbidden, message: objection)
        }
        if access.level < level { throw PageProblem(status: .forbidden, message: "you may only read here") }
    }

    private func pageRequest(_ request: Request, _ access: DashboardAccess, _ limit: Int) async throws -> PageRequest {
        var form = FormFields()
        if request.method == .post {
            let body: ByteBuffer
            do { body = try await request.body.collect(upTo: limit) } catch {
                throw PageProblem(status: .contentTooLarge, message: "that is too much for one form")
            }
            form = try FormFields(parsing: String(buffer: body))
        }
        return PageRequest(
            access: access,
            base: base,
            query: try FormFields(parsing: request.uri.query ?? ""),
            form: form,
            path: path
        )
    }

    private func refusal(_ error: any Error, _ request: Request, _ access: DashboardAccess) -> Response {
        let problem = PageProblem(explaining: error)
        let pageRequest = PageRequest(access: access, base: base, query: FormFields(), form: FormFields(), path: "")
        var response: Response
        if access.level == .none {
            // Not even the queues' names.
            response = Response(
                status: problem.status,
                body: .init(byteBuffer: ByteBuffer(string: problem.message + "\n"))
            )
            response.headers[.contentType] = "text/plain; charset=utf-8"
            response.headers[.wwwAuthenticate] = problem.status == .unauthorized ? access.challenge : nil
            response.headers[.retryAfter] = problem.status == .tooManyRequests ? "1" : nil
        } else {
            let page = Page(
                heading: problem.status.reasonPhrase,
                template: "problem",
                content: ["message": problem.message],
                status: problem.status
            )
            response = render(page, pageRequest)
        }
        return response
    }

    func render(_ page: Page, _ pageRequest: PageRequest) -> Response {
        var content = page.content
        content["base"] = base
        content["mayAct"] = pageRequest.mayAct
        var layout: [String: Any] = [
            "base": base, "site": dashboard.title, "heading": page.heading, "who": who(pageRequest.access),
            "navigation": Navigation.links(at: pageRequest.path, pageRequest.query["state"]),
            "content": dashboard.pages.render(page.template, content),
            "unreadable": page.unreadable.map { ["text": $0.description] },
        ]
        if let notice = pageRequest.query["notice"] { layout["notice"] = notice }
        let text = dashboard.pages.render("layout", layout)
        return Response(
            status: page.status,
            headers: [.contentType: "text/html; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }

    private func who(_ access: DashboardAccess) -> String {
        let may = access.level == .acting ? "may act" : "reads only"
        return access.user.isEmpty ? may : "\(access.user) · \(may)"
    }
}

extension PageProblem {
    init(explaining error: any Error) {
        switch error {
        case let problem as PageProblem: self = problem
        case let error as BrokerError:
            self.init(status: HTTPResponse.Status(explaining: error.code), message: error.message)
        case let error as DescriptionError: self.init(status: .badRequest, message: "\(error)")
        default: self.init(status: .internalServerError, message: "\(error)")
        }
    }
}

extension HTTPResponse.Status {
    /// What a user asks for is checked before it goes to the broker. So what the broker refuses, and what it does not
    /// permit the dashboard, is the fault of its data or of its settings, and no fault of the request.
    fileprivate init(explaining code: BrokerError.Code) {
        self =
            switch code {
            case .queueNotFound: .notFound
            case .refused, .notPermitted: .internalServerError
            default: .serviceUnavailable
            }
    }
}

/// The links at the top of every page.
enum Navigation {
    private static let pages = [
        ("Overview", "/"), ("Jobs", "/jobs"), ("Dead", "/jobs?state=dead"), ("Workers", "/workers"),
        ("Schedules", "/schedules"), ("Events", "/events"), ("Actions", "/actions"),
    ]

    static func links(at path: String, _ state: String?) -> [[String: Any]] {
        let here = path.isEmpty ? "/" : path == "/jobs" && state == "dead" ? "/jobs?state=dead" : path
        return pages.map { title, place in
            let isHere = place == here
            return ["title": title, "path": place, "isHere": isHere]
        }
    }
}
