/// The keys of an operation description in version 1, in the order in which they are written.
enum DescriptionKey: String, CaseIterable {
    case version = "v"
    case operation
    case arguments
    case queue
    case name
    case unique
    case uniqueUntil = "unique_until"
    case window = "window_ms"
    case atMost = "at_most_ms"
    case timeout = "timeout_ms"
    case notBefore = "not_before_ms"
    case expires = "expires_ms"
    case retries
    case backoff
    case priority
    case group
    case cost
    case id
    case tags
    case meta
    case workflow

    /// The rule for a value of this key, as the end of the sentence "it must be …".
    var rule: String {
        switch self {
        case .version: "the number 1"
        case .operation, .queue: "text of 1 to 128 characters, each one of A-Z a-z 0-9 _ . -"
        case .arguments: "a JSON value of at most 1 MiB and 64 levels"
        case .name: "text of 1 to 1024 bytes in UTF-8"
        case .unique:
            "\"ignore\", \"drop\", \"replace\", \"throttle\", \"debounce\" or \"keep_latest\""
        case .uniqueUntil: "\"finished\" or \"started\""
        case .timeout, .window, .atMost, .expires:
            "a whole number of milliseconds from 1 to 31536000000 (365 days), in plain digits"
        case .notBefore:
            "a time in milliseconds since 1970 from 0 to 9999999999999, in plain digits; 1000000000 to 999999999999 are "
                + "times in seconds: multiply by 1000"
        case .retries: "a whole number from 0 to 1000, in plain digits"
        case .backoff: "a JSON object with any of \"base_ms\", \"longest_ms\" and \"jitter\""
        case .priority: "a whole number from 0 to 9, in plain digits"
        case .group: GroupName.rule
        case .cost: "a whole number from 1 to 1000000, in plain digits"
        case .id: "text of 1 to 64 characters, each one of A-Z a-z 0-9 _ -"
        case .tags: "a JSON array of at most 8 texts of 1 to 64 bytes in UTF-8"
        case .meta: "a JSON object"
        case .workflow: "a JSON object with \"id\", such as \"mail:4fJ0aQ9bX2cD7eHk\", and \"key\", and nothing else"
        }
    }

    /// Whether `null` is the same as a missing key. It is not if `null` is a value itself or would hide a missing key.
    var acceptsNull: Bool {
        switch self {
        case .version, .operation, .arguments: false
        default: true
        }
    }

    /// The bit of this key in a set of keys.
    var bit: UInt32 {
        switch self {
        case .version: 1
        case .operation: 2
        case .arguments: 4
        case .queue: 8
        case .name: 16
        case .unique: 32
        case .timeout: 64
        case .notBefore: 128
        case .retries: 256
        case .priority: 512
        case .id: 1024
        case .meta: 2048
        case .uniqueUntil: 4096
        case .backoff: 8192
        case .tags: 16384
        case .window: 32768
        case .atMost: 65536
        case .expires: 131072
        case .group: 262144
        case .cost: 524288
        case .workflow: 1_048_576
        }
    }
}

extension DescriptionKey {
    /// Returns the key with these bytes (without quotes and escapes), or `nil` if version 1 has no such key.
    init?(spelled bytes: ArraySlice<UInt8>) {
        let candidate: DescriptionKey
        switch (bytes.count, bytes.first) {
        case (1, _): candidate = .version
        case (2, _): candidate = .id
        case (4, UInt8(ascii: "n")): candidate = .name
        case (4, UInt8(ascii: "t")): candidate = .tags
        case (4, UInt8(ascii: "c")): candidate = .cost
        case (4, _): candidate = .meta
        case (5, UInt8(ascii: "g")): candidate = .group
        case (5, _): candidate = .queue
        case (6, _): candidate = .unique
        case (7, UInt8(ascii: "r")): candidate = .retries
        case (7, _): candidate = .backoff
        case (8, UInt8(ascii: "w")): candidate = .workflow
        case (8, _): candidate = .priority
        case (9, UInt8(ascii: "o")): candidate = .operation
        case (9, UInt8(ascii: "w")): candidate = .window
        case (9, _): candidate = .arguments
        case (10, UInt8(ascii: "a")): candidate = .atMost
        case (10, UInt8(ascii: "e")): candidate = .expires
        case (10, _): candidate = .timeout
        case (12, _): candidate = .uniqueUntil
        case (13, _): candidate = .notBefore
        default: return nil
        }
        guard candidate.spelling.isSpelled(by: bytes) else { return nil }
        self = candidate
    }

    /// The same as `rawValue`, but comparable with bytes without making a string. Every description that is read uses
    /// this a dozen times.
    private var spelling: StaticString {
        switch self {
        case .version: "v"
        case .operation: "operation"
        case .arguments: "arguments"
        case .queue: "queue"
        case .name: "name"
        case .unique: "unique"
        case .uniqueUntil: "unique_until"
        case .window: "window_ms"
        case .atMost: "at_most_ms"
        case .timeout: "timeout_ms"
        case .notBefore: "not_before_ms"
        case .expires: "expires_ms"
        case .retries: "retries"
        case .backoff: "backoff"
        case .priority: "priority"
        case .group: "group"
        case .cost: "cost"
        case .id: "id"
        case .tags: "tags"
        case .meta: "meta"
        case .workflow: "workflow"
        }
    }
}

extension StaticString {
    /// Returns whether the bytes are those of this literal.
    fileprivate func isSpelled(by bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count == utf8CodeUnitCount else { return false }
        for index in 0..<utf8CodeUnitCount where bytes[bytes.startIndex + index] != utf8Start[index] { return false }
        return true
    }
}
