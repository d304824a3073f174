/// An operation of the catalogue: what to run, and the defaults for its jobs.
package struct CatalogueOperation: Sendable {
    /// How a worker runs the operation.
    package enum Kind: Sendable {
        /// Starts a command. Each template becomes one value of its argument vector; no shell is involved.
        case run([Template])
        /// Calls a web address with the arguments as the body.
        case http(CatalogueRequest)
        /// Passes the job to one of several long-lived children.
        case serve(ServedPool)
    }

    /// The operation's name, `[A-Za-z0-9_.-]{1,128}`.
    package let name: String
    /// How a worker runs the operation.
    package let kind: Kind
    /// The template of the default unique name.
    package var nameTemplate: Template?
    /// The template of the default group.
    package var groupTemplate: Template?
    /// Whether the `Retry-After` of a server lets the whole group of a job rest.
    package var restsGroup = false
    /// The defaults for its jobs.
    package var values = JobValues()
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
    package var headers: [String: String] = [:]
}
