/// An operation of the catalogue: what to run, and the defaults for its jobs.
package struct CatalogueOperation: Sendable {
    /// How a worker runs the operation.
    package enum Kind: Sendable {
        /// Starts a command. Each template becomes one value of its argument vector; no shell is involved.
        case run([Template])
        /// Calls a web address with the arguments as the body.
        case http(CatalogueRequest)
    }

    /// The policy for a new job whose name an unfinished job holds.
    package enum Uniqueness: String, CaseIterable, Sendable {
        /// The job neither takes nor is blocked by a name.
        case ignore
        /// The new job is dropped.
        case drop
        /// The new job replaces the old one.
        case replace
    }

    /// How long a job holds its name, with the cases of `Errand`.
    package enum UniqueUntil: String, Sendable, CaseIterable {
        case finished
        case started
    }

    /// The operation's name, `[A-Za-z0-9_.-]{1,128}`.
    package let name: String
    /// How a worker runs the operation.
    package let kind: Kind
    /// The template of the default unique name.
    package var nameTemplate: Template?
    /// The default uniqueness policy.
    package var uniqueness: Uniqueness?
    /// How long a job holds its name.
    package var uniqueUntil: UniqueUntil?
    /// How long a run may take.
    package var timeout: Duration?
    /// How often a failed run is retried, 0 to 1000.
    package var retries: Int?
    /// How long to wait before each retry.
    package var backoff: CatalogueBackoff?
    /// The queue for its jobs.
    package var queue: String?
    /// The priority of its jobs, 0 to 9; 9 is the highest.
    package var priority: Int?

    /// Makes an operation without defaults.
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
    /// The address of the request. It may contain credentials, so it is never logged or put into an error.
    package let address: WebAddress
    /// Additional header fields.
    package var headers: [String: String]

    /// Makes a request.
    package init(method: String, address: WebAddress, headers: [String: String] = [:]) {
        self.method = method
        self.address = address
        self.headers = headers
    }
}
