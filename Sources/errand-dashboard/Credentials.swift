import Foundation
import HTTPTypes
import Hummingbird

/// The name and password of a request. They are never logged, because users type passwords into the wrong field.
struct Credentials {
    let name: String
    let password: Substring

    /// Reads the `Authorization` header; `nil` if it is missing or not valid.
    init?(_ request: Request) {
        guard let header = request.headers[.authorization], header.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        name = String(text[..<colon])
        password = text[text.index(after: colon)...]
    }
}
