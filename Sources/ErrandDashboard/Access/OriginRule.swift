import HTTPTypes
import Hummingbird

/// Whether a request that changes something comes from the dashboard's own pages.
///
/// A browser sends a form of any page on the internet here, with all that identifies its user; but it says where the form
/// comes from, and pages cannot change that.
enum OriginRule {
    /// Why a request is refused; `nil` when it is not.
    static func objection(to request: Request) -> String? {
        // Told by a browser from what it sees itself, so it holds behind a proxy that calls this host by another name, too.
        if let site = request.headers[.secFetchSite] {
            return site == "same-origin" ? nil : "this came from another page (Sec-Fetch-Site: \(site.prefix(40)))"
        }
        guard let origin = request.headers[.origin] else {
            return "requests that change something need an Origin header that names this dashboard"
        }
        guard let host = request.head.authority, let place = origin.firstRange(of: "://") else {
            return "the Origin header names no place"
        }
        return origin[place.upperBound...].lowercased() == host.lowercased()
            ? nil : "this came from another place than this dashboard (Origin: \(origin.prefix(100)))"
    }
}

extension HTTPField.Name {
    // The text is a constant that the type accepts; a test reads the header through it.
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
