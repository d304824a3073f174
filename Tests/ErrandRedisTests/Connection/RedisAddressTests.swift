import Errand
import Testing

@testable import ErrandRedis

struct RedisAddressTests {
    @Test(arguments: [
        ("redis://localhost", "redis://localhost:6379/0"),
        ("redis://user:pa%20ss@10.0.0.1:7000/3", "redis://10.0.0.1:7000/3"),
        ("redis://:secret@[::1]:6380", "redis://[::1]:6380/0"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
        ("unix:///run/redis.sock?db=2", "unix:///run/redis.sock?db=2"),
    ])
    func readsAndHidesThePassword(_ url: String, _ shown: String) throws {
        let address = try RedisAddress(url: url)
        #expect("\(address)" == shown)
    }

    /// The meaning of a URL, which is the same for every scheme.
    struct Reading: CustomTestStringConvertible {
        let url: String
        var user: String?
        var password: String?
        var database = 0
        var shown: String
        var testDescription: String { url }
    }

    @Test(arguments: [
        Reading(
            url: "redis://user:pa%20ss@10.0.0.1:7000/3",
            user: "user",
            password: "pa ss",
            database: 3,
            shown: "redis://10.0.0.1:7000/3"
        ),
        Reading(url: "redis://:hush@h", password: "hush", shown: "redis://h:6379/0"),
        Reading(url: "unix://:hush@/s", password: "hush", shown: "unix:///s"),
        Reading(
            url: "unix://us%65r:hush@/s?db=4",
            user: "user",
            password: "hush",
            database: 4,
            shown: "unix:///s?db=4"
        ),
        Reading(url: "REDIS://u:p@h/", user: "u", password: "p", shown: "redis://h:6379/0"),
        // Reserved characters, encoded, and characters that need no encoding there.
        Reading(
            url: "redis://a%3Ab:p%40s%2Fs%3A%23%3F%25@h",
            user: "a:b",
            password: "p@s/s:#?%",
            shown: "redis://h:6379/0"
        ),
        Reading(url: "redis://u:p@s:s@h", user: "u", password: "p@s:s", shown: "redis://h:6379/0"),
        Reading(url: "redis://u:p%C3%BC%2B+@h", user: "u", password: "p\u{fc}++", shown: "redis://h:6379/0"),
        Reading(
            url: "redis://u:p@[fe80::1%25eth0]:1/2",
            user: "u",
            password: "p",
            database: 2,
            shown: "redis://[fe80::1%25eth0]:1/2"
        ),
        Reading(url: "redis://[::FFFF:10.0.0.1]", shown: "redis://[::FFFF:10.0.0.1]:6379/0"),
        Reading(url: "redis://h:65535/65535", database: 65535, shown: "redis://h:65535/65535"),
        Reading(url: "unix:///a%20b/c@d:e.sock", shown: "unix:///a b/c@d:e.sock"),
        Reading(url: "unix:///s?", shown: "unix:///s"),
    ])
    func readsEverySchemeByTheSameRules(_ reading: Reading) throws {
        let address = try RedisAddress(url: reading.url)
        #expect(address.user == reading.user)
        #expect(address.password == reading.password)
        #expect(address.database == reading.database)
        #expect("\(address)" == reading.shown)
    }

    @Test(arguments: [
        // Credentials that would let the client in as the server's user default.
        ("redis://hush@h", "without a password"), ("unix://hush@/s", "without a password"),
        ("redis://hush:@h", "without a password"), ("unix://hush:@/s", "without a password"),
        ("redis://:@h", "are empty"), ("redis://@h", "are empty"), ("unix://:@/s", "are empty"),
        // Encodings.
        ("redis://u:hush%@h", "%25"), ("redis://u:hush%zz@h", "%25"), ("redis://u:hush%ff@h", "not UTF-8"),
        ("redis://u:hush%00@h", "NUL"), ("unix:///s%00t", "NUL"), ("redis://u:hu sh@h", "percent-encoded"),
        ("redis://:hush@h\n", "control character"), ("redis://u:hu/sh@h", "%2F"), ("redis://u:hu#sh@h", "%23"),
        ("redis://u:hu?sh@h", "%3F"), ("unix://u:hu/sh@/s", "%2F"),
        // Hosts and ports.
        ("redis://:hush@", "no host"), ("redis://", "no host"), ("redis://:6379", "no host"), ("redis:///0", "no host"),
        ("redis://h:0", "port"), ("redis://h:65536", "port"), ("redis://h:", "port"), ("redis://h:x", "port"),
        ("redis://h:+1", "port"), ("redis://h:000001", "port"), ("redis://::1", "brackets"),
        ("redis://[::1", "]"), ("redis://[::1]x", "port"), ("redis://[hush]", "IPv6"), ("redis://[]", "IPv6"),
        ("redis://a,b", "take a list"), ("redis+cluster://a,", "host"), ("redis+cluster://", "host"),
        ("redis+cluster://a/1", "database 0"), ("redis+cluster://a?x=hush", "query"), ("redis+sentinel://a", "master"),
        ("redis+sentinel://a/m/x", "database"), ("redis+sentinel://a/m?sentinel_user=hush", "sentinel_password"),
        ("redis+sentinel://a/m?password=hush", "query"), ("redis+sentinel://a,b:0/m", "port"),
        ("redis://a%2Fb", "host"),
        // Databases, queries and paths.
        ("redis://h/x", "database"), ("redis://h/-1", "database"), ("redis://h/+1", "database"),
        ("redis://h//1", "database"),
        ("redis://h/1/", "database"), ("redis://h/65536", "database"), ("redis://h/99999999999999999999", "database"),
        ("redis://h?db=1", "query"), ("redis://h?hush=1", "query"), ("redis://h#1", "fragment"),
        ("unix:///s#1", "fragment"),
        ("unix:///s?db=x", "db"), ("unix:///s?db=", "db"), ("unix:///s?db", "db"), ("unix:///s?db=-1", "db"),
        ("unix:///s?db=1&db=2", "once"), ("unix:///s?password=hush", "only query is db"),
        ("unix:///s?DB=1", "only query is db"),
        ("unix://relative", "absolute"), ("unix://", "absolute"), ("unix:///", "absolute"), ("unix://h/s", "absolute"),
        ("unix:///" + String(repeating: "a", count: 107), "107"),
        // Schemes.
        ("", "scheme"), ("localhost:6379", "scheme"), ("://h", "scheme"), ("u:hush@h", "scheme"),
        ("hush:x://h", "scheme"),
        ("http://localhost", "not http"), ("rediss://:hush@localhost", "TLS"),
    ])
    func refusesWithAReason(_ url: String, _ reason: String) {
        let error = #expect(throws: BrokerError.self) { try RedisAddress(url: url) }
        #expect(error?.code == .refused)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("hush") == false, "\(error?.message ?? "")")
    }
}
