import ErrandOperator
import HTTPTypes
import Hummingbird

/// One request, with all that its answer needs to know of it.
struct PageRequest: Sendable {
    /// Who asks.
    let access: DashboardAccess
    /// Where the dashboard begins.
    let base: String
    /// The query.
    let query: FormFields
    /// The form that was sent; empty without one.
    let form: FormFields
    /// The page that is asked for, below the base.
    let path: String

    var mayAct: Bool { access.level == .acting }
}

/// What a page is made of.
struct Page {
    var heading: String
    var template: String
    var content: [String: Any]
    var status = HTTPResponse.Status.ok
    /// What is missing from the page because it cannot be read.
    var unreadable: [UnreadablePlace] = []
}

/// Why a page cannot be shown.
struct PageProblem: Error {
    let status: HTTPResponse.Status
    let message: String

    static func notFound(_ message: String) -> PageProblem { PageProblem(status: .notFound, message: message) }
    static func bad(_ message: String) -> PageProblem { PageProblem(status: .badRequest, message: message) }
}
