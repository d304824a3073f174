import Foundation
import HTTPTypes
import Hummingbird

/// What a request says of who sent it. Nothing of it is ever logged: people type passwords where names belong.
struct Credentials {
    let name: String
    let password: Substring

    /// `nil` when the request does not say.
    init?(_ request: Request) {
        guard let header = request.headers[.authorization], header.hasPrefix("Basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6))),
            let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":")
        else { return nil }
        name = String(text[..<colon])
        password = text[text.index(after: colon)...]
    }
}
