import ErrandRedis
import Testing

/// The server's INFO in the words of each engine.
@Suite struct RedisInfoTests {
    @Test(arguments: [
        ("redis_version:7.0.15\r\nredis_mode:standalone", "redis 7.0.15"),
        ("redis_version:8.2.3\r\nredis_mode:standalone", "redis 8.2.3"),
        ("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2", "valkey 9.1.2"),
        ("redis_version:7.2.4\r\nserver_name:another", "another 7.2.4"),
        ("redis_mode:standalone", "redis unknown"),
    ]) func `names the engine and its version`(text: String, engine: String) {
        #expect(RedisInfo(text: "# Server\r\n\(text)\r\n").engine == engine)
    }
}
