import ErrandOperator
import ErrandText
import HTTPTypes
import Hummingbird

/// One request with the data that its response needs.
struct PageRequest: Sendable {
    /// The permissions of the sender.
    let access: DashboardAccess
    /// The path of the overview.
    let base: String
    /// The fields of the query.
    let query: FormFields
    /// The fields of the form; empty without one.
    let form: FormFields
    /// The requested path below the base.
    let path: String

    var mayAct: Bool { access.level == .acting }
}

/// The content of a page.
struct Page {
    var heading: String
    var template: String
    var content: [String: Any]
    var status = HTTPResponse.Status.ok
    /// The parts missing from the page because they cannot be read.
    var unreadable: [UnreadablePlace] = []
    /// What was wrong with the request, if the page is shown again because of it.
    var problem: String?
}

/// The reason why a page cannot be shown.
struct PageProblem: Error {
    let status: HTTPResponse.Status
    let message: String

    static func notFound(_ message: String) -> PageProblem { PageProblem(status: .notFound, message: message) }
    static func bad(_ message: String) -> PageProblem { PageProblem(status: .badRequest, message: message) }

    /// The answer to an action by a user with read-only access.
    static let mayOnlyRead = PageProblem(
        status: .forbidden,
        message: "this user may only read; actions need errand-dashboard --allow-actions, and a user that --reader "
            + "does not name (a dashboard inside a service: let its visitors act)"
    )

    /// The answer to a link to a further page whose position is invalid.
    static let noSuchPosition = bad("this link to a further page is not valid (any more); start from the first page")

    /// The problem of a text that is no queue's name.
    static func notAQueue(_ text: String) -> PageProblem {
        bad("\"\(text.printable.shortened(to: 140))\" is not a queue's name: 1 to 128 of A-Z a-z 0-9 _ . -")
    }
}
