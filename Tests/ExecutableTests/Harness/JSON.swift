import Foundation
import TestSupport

/// Access to JSON for tests.
enum JSON: Equatable, Decodable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case null
    case truth(Bool)
    case number(Int64)
    case text(String)
    case list([JSON])
    case members([String: JSON])

    init(text: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let truth = try? container.decode(Bool.self) {
            self = .truth(truth)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([JSON].self) {
            self = .list(list)
        } else {
            self = .members(try container.decode([String: JSON].self))
        }
    }

    init(nilLiteral: ()) { self = .null }
    init(stringLiteral text: String) { self = .text(text) }
    init(integerLiteral number: Int64) { self = .number(number) }
    init(booleanLiteral truth: Bool) { self = .truth(truth) }
    init(arrayLiteral items: JSON...) { self = .list(items) }
    init(dictionaryLiteral members: (String, JSON)...) { self = .members(Dictionary(members) { $1 }) }

    var object: [String: JSON] {
        get throws {
            guard case .members(let members) = self else { throw TestFailure("not an object: \(self)") }
            return members
        }
    }

    var items: [JSON] { if case .list(let items) = self { items } else { [] } }
    var string: String? { if case .text(let text) = self { text } else { nil } }
    var integer: Int64? { if case .number(let number) = self { number } else { nil } }

    subscript(key: String) -> JSON? { if case .members(let members) = self { members[key] } else { nil } }
}
