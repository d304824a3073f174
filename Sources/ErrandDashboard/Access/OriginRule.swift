import HTTPTypes
import Hummingbird

/// A check that a request for a change comes from the dashboard's own pages (protection against CSRF).
///
/// A browser submits a form of any page on the internet with its user's credentials. But it adds the form's origin,
/// which pages cannot change.
enum OriginRule {
    /// Returns the reason to reject a request, or `nil`.
    static func objection(to request: Request) -> String? {
        // The browser computes this header itself, so it is right even behind a proxy that uses another host name.
        if let site = request.headers[.secFetchSite] {
            return site == "same-origin"
                ? nil
                : "this came from another page (Sec-Fetch-Site: \(site.prefix(40))): open the dashboard's own page and press the "
                    + "button there"
        }
        guard let origin = request.headers[.origin] else {
            return "requests that change something need an Origin header that names this dashboard"
        }
        guard let host = request.head.authority, let place = origin.firstRange(of: "://") else {
            return "the Origin header names no place"
        }
        return origin[place.upperBound...].lowercased() == host.lowercased()
            ? nil
            : "the browser shows \(origin.prefix(100)), but the request reached the dashboard as \(host.prefix(100)): use the "
                + "dashboard's own page, and let a proxy pass the Host header on unchanged"
    }
}

extension HTTPField.Name {
    // The name is a valid constant, so the fallback is never used; a test reads the header through it.
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site") ?? .origin
}
