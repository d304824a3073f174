/// An operation as the catalogue tells it: what to run, and what holds for a job that does not say otherwise.
package struct CatalogueOperation: Sendable {
    /// What a worker does to run the operation.
    package enum Kind: Sendable {
        /// Starts a command. Each template becomes one value of its argument vector; there is never a shell.
        case run([Template])
        /// Calls a web address with the arguments as the body.
        case http(CatalogueRequest)
    }

    /// What becomes of a job whose name an unfinished job already has.
    package enum Uniqueness: String, CaseIterable, Sendable {
        /// The job neither takes nor blocks a name.
        case ignore
        /// The new job gives way.
        case drop
        /// The old job gives way.
        case replace
    }

    /// How long a job holds its name, as `Errand` knows it.
    package enum UniqueUntil: String, Sendable, CaseIterable {
        case finished
        case started
    }

    /// The operation's name, `[A-Za-z0-9_.-]{1,128}`.
    package let name: String
    /// What a worker does to run it.
    package let kind: Kind
    /// The default name for uniqueness.
    package var nameTemplate: Template?
    /// The default uniqueness policy.
    package var uniqueness: Uniqueness?
    /// How long a job holds its name.
    package var uniqueUntil: UniqueUntil?
    /// How long a run may take.
    package var timeout: Duration?
    /// How often a failed run is tried again, 0 to 1000.
    package var retries: Int?
    /// How long to wait before each retry.
    package var backoff: CatalogueBackoff?
    /// The queue that its jobs go to.
    package var queue: String?
    /// The priority of its jobs, 0 to 9, 9 first.
    package var priority: Int?

    /// An operation without defaults.
    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// The web request of an `http` operation.
package struct CatalogueRequest: Sendable {
    /// The methods that an operation may use. A `GET` has no body.
    package static let methods = ["POST", "PUT", "PATCH", "DELETE", "GET"]

    /// One of ``methods``.
    package let method: String
    /// Where it is sent. May hold credentials, so it is never logged or put into an error.
    package let address: WebAddress
    /// Header fields to send along.
    package var headers: [String: String]

    /// A request as the catalogue describes it.
    package init(method: String, address: WebAddress, headers: [String: String] = [:]) {
        self.method = method
        self.address = address
        self.headers = headers
    }
}
