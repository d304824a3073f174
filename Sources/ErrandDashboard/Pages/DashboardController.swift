import Errand
import ErrandOperator
import ErrandText
import HTTPTypes
import Hummingbird
import NIOCore

/// The handler of one request: checks access and turns pages into responses.
struct DashboardController: Sendable {
    let dashboard: ErrandDashboard
    /// The path of the overview, which prefixes all links.
    let base: String
    /// The requested path below the base; empty for the overview.
    let path: String
    /// The remote address, if it is known.
    let address: String?

    static let formLimit = 2 << 20
    /// The limit for an edited description. It has a little more than 1 MiB, and a browser sends three bytes for nearly
    /// every one. The parser rejects descriptions that are too large.
    static let editLimit = 8 << 20

    var broker: any Broker { dashboard.broker }

    /// Responds with a page if the user may read.
    func show(_ request: Request, _ page: (PageRequest) async throws -> Page) async -> Response {
        await answer(request, needing: .reading) { pageRequest in render(try await page(pageRequest), pageRequest) }
    }

    /// Performs an action if the user may act and the request comes from the dashboard's own pages, and redirects to
    /// the returned path.
    func act(
        _ request: Request,
        upTo limit: Int = Self.formLimit,
        _ action: (PageRequest) async throws -> String
    ) async -> Response {
        await answer(request, needing: .acting, upTo: limit) { pageRequest in
            redirect(to: try await action(pageRequest))
        }
    }

    /// Returns a redirect to a path below the base.
    func redirect(to place: String) -> Response { Response(status: .seeOther, headers: [.location: base + place]) }

    /// The form of an error: a page for people, a line or a JSON object for programs.
    enum ProblemForm { case page, text, json }

    /// Responds with the result of `make`, or with an error.
    func answer(
        _ request: Request,
        needing level: DashboardAccess.Level,
        upTo limit: Int = Self.formLimit,
        problemsAs form: ProblemForm = .page,
        _ make: (PageRequest) async throws -> Response
    ) async -> Response {
        let access = await dashboard.access(request, address)
        var response: Response
        do {
            try admit(request, access, level)
            let pageRequest = try await pageRequest(request, access, limit)
            response = try await make(pageRequest)
        } catch {
            // Attempts of strangers would push all other entries out.
            if level == .acting, access.level > .none { noteRefusal(error, access) }
            response = refusal(error, form, access)
        }
        SecurityHeaders.add(to: &response)
        return response
    }

    /// Logs a rejected action, which matters as much to readers of the log as one that succeeded.
    func noteRefusal(_ error: any Error, _ access: DashboardAccess) {
        let problem = PageProblem(explaining: error)
        let outcome = "\(problem.status.code): \(problem.message)"
        dashboard.actions.note(access.user, "refused", String(path.prefix(500)), outcome)
    }

    private func admit(_ request: Request, _ access: DashboardAccess, _ level: DashboardAccess.Level) throws {
        guard dashboard.hosts.admits(request.head.authority) else {
            throw PageProblem(
                status: .misdirectedRequest,
                message: Self.unknownHost(request.head.authority)
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
            let words = status == .forbidden ? "you may not see this" : "a user name and a password are needed"
            throw PageProblem(status: status, message: words)
        }
        if request.method == .post, let objection = OriginRule.objection(to: request) {
            throw PageProblem(status: .forbidden, message: objection)
        }
        if access.level < level { throw PageProblem.mayOnlyRead }
    }

    private static func unknownHost(_ authority: String?) -> String {
        guard let authority else { return "the request has no Host header" }
        let shown = HostRule.name(authority).printable.shortened(to: 100)
        return "this dashboard does not answer to \"\(shown)\"; start errand-dashboard with --allow-host \(shown) "
            + "(a dashboard inside a service: add it to its hosts)"
    }

    private func pageRequest(_ request: Request, _ access: DashboardAccess, _ limit: Int) async throws -> PageRequest {
        var form = FormFields()
        if request.method == .post {
            let body: ByteBuffer
            do { body = try await request.body.collect(upTo: limit) } catch {
                throw PageProblem(
                    status: .contentTooLarge,
                    message: "the form has more than \(limit >> 20) MiB, or was cut off; push large arguments with "
                        + "errand-producer"
                )
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

    private func refusal(_ error: any Error, _ form: ProblemForm, _ access: DashboardAccess) -> Response {
        let problem = PageProblem(explaining: error)
        if form == .json {
            let object: JSONOutput = ["error": .text(problem.message)]
            return Self.respond(problem.status, "application/json", object.bytes, to: access)
        }
        // A page shows names of queues, so a reader without access gets none.
        if form == .text || access.level == .none {
            return Self.respond(problem.status, "text/plain; charset=utf-8", Array(problem.message.utf8), to: access)
        }
        let page = Page(
            heading: problem.status.reasonPhrase,
            template: "problem",
            content: ["message": problem.message],
            status: problem.status
        )
        return render(page, PageRequest(access: access, base: base, query: FormFields(), form: FormFields(), path: ""))
    }

    private static func respond(
        _ status: HTTPResponse.Status,
        _ type: String,
        _ line: [UInt8],
        to access: DashboardAccess
    ) -> Response {
        var response = Response(
            status: status,
            headers: [.contentType: type],
            body: .init(byteBuffer: ByteBuffer(bytes: line + [UInt8(ascii: "\n")]))
        )
        response.headers[.wwwAuthenticate] = status == .unauthorized ? access.challenge : nil
        response.headers[.retryAfter] = status == .tooManyRequests ? "1" : nil
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
            "unreadable":
                ([page.problem, dashboard.queues.problem].compactMap(\.self)
                + page.unreadable.map(\.description))
                .map { ["text": $0] },
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
    /// Maps a broker's error to a status. User input is checked before it is sent to the broker, so a refusal or a
    /// missing permission is a problem of its data or settings, not of the request.
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
        ("Workflows", "/workflows"), ("Schedules", "/schedules"), ("Events", "/events"), ("Actions", "/actions"),
    ]

    static func links(at path: String, _ state: String?) -> [[String: Any]] {
        let here = path.isEmpty ? "/" : path == "/jobs" && state == "dead" ? "/jobs?state=dead" : path
        return pages.map { title, place in
            let isHere = place == here
            return ["title": title, "path": place, "isHere": isHere]
        }
    }
}
