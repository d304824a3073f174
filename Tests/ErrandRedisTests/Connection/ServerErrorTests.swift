import Errand
import Testing

@testable import ErrandRedis

private let digest = "c00cc63bb85d8a9162bf449cd785855846172f77"

/// Error replies in the words of each engine: Redis 7.0, Redis 8.2 and Valkey 9.1.
@Suite struct ServerErrorTests {
    private let address: RedisAddress

    init() throws { address = try RedisAddress(url: "redis://server") }

    private func error(_ text: String) -> BrokerError {
        ServerError(text).brokerError(at: address, in: .push)
    }

    @Test(arguments: [
        "NOPERM this user has no permissions to run the 'evalsha' command",
        "NOPERM User errand has no permissions to run the 'evalsha' command",
        "NOPERM No permissions to access a key",
        "NOPERM No permissions to access a channel",
    ]) func `a missing permission of a caller is named`(text: String) {
        let error = error(text)
        #expect(error.code == .notPermitted)
        #expect(error.message.contains(text) && error.message.contains("errand.acl"), "\(error)")
    }

    @Test(arguments: [
        "The user executing the script can't run this command or subcommand script: \(digest), on @user_script:2.",
        "The user executing the script can't access at least one of the keys mentioned in the command arguments "
            + "script: \(digest), on @user_script:2.",
        "The user executing the script can't publish to the channel mentioned in the command "
            + "script: \(digest), on @user_script:2.",
        "ACL failure in script: User errand has no permissions to run the 'hget' command "
            + "script: \(digest), on @user_script:2.",
        "ACL failure in script: No permissions to access a key script: \(digest), on @user_script:2.",
        "ACL failure in script: User errand has no permissions to run the 'hget' command script: on @user_script:2.",
        "ACL failure in script: No permissions to access a channel script: on @user_script:2.",
    ]) func `a missing permission of a script is named with its line`(text: String) throws {
        let error = error("ERR \(text)")
        #expect(error.code == .notPermitted)
        #expect(error.message.contains(text.dropLast()) && error.message.contains("errand.acl"), "\(error)")
        let second = Script.push.text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[1]
        let line = String(decoding: second, as: UTF8.self)
        #expect(error.message.contains("the script push at `\(line.drop { $0 == " " })`"), "\(error)")
    }

    @Test(arguments: ["script: \(digest), on @user_script:2.", "script: on @user_script:2."])
    func `the position in a script is not shown with a key of the wrong type`(position: String) {
        let reason = "Operation against a key holding the wrong kind of value"
        let error = error("WRONGTYPE \(reason) \(position)")
        #expect(error.code == .refused)
        #expect(error.message == "\(address): \(reason). See `errand doctor`")
    }

    @Test(arguments: [
        "OOM command not allowed when used memory > 'maxmemory'.",
        "OOM command not allowed when used memory > 'maxmemory'. script: \(digest), on @user_script:2.",
        "OOM command not allowed when used memory > 'maxmemory'. script: on @user_script:2.",
    ]) func `a full memory is one error`(text: String) {
        #expect(error(text).code == .full)
    }

    @Test(arguments: [
        "NOREPLICAS Not enough good replicas to write. script: \(digest), on @user_script:2.",
        "NOREPLICAS Not enough good replicas to write. script: on @user_script:2.",
        "READONLY You can't write against a read only replica. script: on @user_script:2.",
    ]) func `a temporary refusal within a script is retried`(text: String) {
        #expect(ServerError(text).isPassing)
        #expect(error(text).code == .notReachable)
    }

    @Test(arguments: [
        ("NOAUTH Authentication required.", "put :password@ or user:password@ after the slashes"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "the user or password of the URL"),
        ("ERR AUTH <password> called without any password configured.", "leave them out if the server has none"),
        ("READONLY You can't write against a read only replica.", "instead of its master"),
        ("ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'", "Redis 7 or newer"),
        ("OOM command not allowed when used memory > 'maxmemory'.", "raise maxmemory"),
        ("ASK 3999 127.0.0.1:6381", "try again"), ("MOVED 3999 127.0.0.1:6381", "try again"),
    ]) func `an error says what to do, and of which server it is`(text: String, advice: String) {
        let message = error(text).message
        #expect(message.contains(advice) && message.contains("\(address)"), "\(message)")
    }

    @Test(arguments: [
        "ERR Unknown Redis command called from script script: \(digest), on @user_script:2.",
        "ERR Unknown command called from script script: on @user_script:2.",
        "ERR unknown command 'ACL failure in script', with args beginning with:",
    ]) func `a command that the server does not have is no missing permission`(text: String) {
        #expect(error(text).code == .refused)
        #expect(!ServerError(text).isPassing)
    }
}
