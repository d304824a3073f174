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

    @Test func keepsTheCredentials() throws {
        let address = try RedisAddress(url: "redis://user:pa%20ss@10.0.0.1:7000/3")
        #expect(address.user == "user")
        #expect(address.password == "pa ss")
        #expect(address.database == 3)
    }

    @Test(arguments: [
        "", "localhost:6379", "http://localhost", "rediss://:hush@localhost", "redis://", "redis://h:0",
        "redis://h:70000", "redis://h/x",
        "redis://h/-1", "redis://h?x=1", "unix://relative", "unix:///s?db=x", "unix:///s?x=1",
        "unix:///" + String(repeating: "a", count: 107),
    ])
    func refusesWithAReason(_ url: String) {
        let error = #expect(throws: BrokerError.self) { try RedisAddress(url: url) }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("hush") == false)
    }
}
