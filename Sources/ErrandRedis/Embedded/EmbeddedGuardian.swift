import Errand
import ErrandText
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Starts an embedded broker's guardian if there is none, and waits until its server replies.
enum EmbeddedGuardian {
    /// Keeps the server running while any process holds the users lock, and then stops it. `$1` is the server, `$2` its
    /// configuration, `$3` the users lock, `$4` the server lock, `$5` its client if there is one, `$6` the socket.
    ///
    /// The server inherits the server lock, so the lock is held exactly while it lives: no process starts a second
    /// server with its data, and no signal reaches an unrelated process that has got its number. The guardian ignores
    /// signals from the terminal of the process that started it.
    ///
    /// A server that receives a signal to end does so even if it cannot write its last data. A server with unwritten
    /// data is therefore kept and checked every second; a process that arrives meanwhile joins it. If its directory was
    /// removed, there is no data to keep. A server that does not reply is stopped.
    private static let script = """
        trap '' INT HUP TERM QUIT
        unset REDISCLI_AUTH VALKEYCLI_AUTH
        serve() {
            (
                exec 8>"$4"
                flock -n 8 || exit 0
                trap - INT HUP TERM QUIT
                exec "$1" "$2" </dev/null >/dev/null 2>&1 7>&- 9<&-
            ) &
            server=$!
        }
        may_stop() {
            [ -n "$5" ] && [ -e "$3" ] || return 0
            case $("$5" -s "$6" info persistence 2>/dev/null 9<&- 7>&-) in
            "" | *aof_last_write_status:ok*aof_buffer_length:0* | *aof_enabled:0*) return 0 ;;
            esac
            return 1
        }
        exec 9<"$3" 7>"$4"
        serve "$@"
        while :; do
            until flock -x -w 5 9; do
                flock -n 7 && flock -u 7 && serve "$@"
            done
            may_stop "$@" || flock -n 7 || { flock -u 9; sleep 1; continue; }
            break
        done
        until flock -n 7; do
            kill -TERM "$server" 2>/dev/null
            sleep 0.1
        done
        flock -u 7
        """

    private static func start(_ home: EmbeddedHome) throws(BrokerError) {
        guard let server = server(of: home) else {
            throw BrokerError(
                .notReachable,
                "no redis-server or valkey-server on PATH for the embedded broker. Install one "
                    + "(apt-get install redis-server, or brew install redis), "
                    + "or name a broker with --redis URL or ERRAND_REDIS_URL"
            )
        }
        guard find("flock") != nil else {
            throw BrokerError(
                .notReachable,
                "the embedded broker needs flock, which is not on PATH. Install it (apt-get install util-linux, or brew install flock)"
            )
        }
        try write(configuration(for: home, of: server), to: home)
        unlink(home.socket)
        try spawn([
            "/bin/sh", "-c", script, "errand-guardian", server, home.configuration, home.usersLock, home.serverLock,
            client(of: server) ?? "", home.socket,
        ])
    }

    /// Finds the server. A home whose last server was Valkey's prefers it, because Redis cannot read Valkey's files.
    private static func server(of home: EmbeddedHome) -> String? {
        let configuration = FileManager.default.contents(atPath: home.configuration) ?? Data()
        let isOfValkey = String(decoding: configuration, as: UTF8.self).contains("/valkey-server\n")
        let names = ["redis-server", "valkey-server"]
        return (isOfValkey ? names.reversed() : names).lazy.compactMap { find($0) }.first
    }

    private static func configuration(for home: EmbeddedHome, of server: String) -> String {
        """
        # Rewritten at every start of the embedded broker.
        # Server: \(server.configurationEscaped)
        port 0
        unixsocket "\(home.socket.configurationEscaped)"
        unixsocketperm 700
        dir "\(home.directory.configurationEscaped)"
        logfile "\(home.log.configurationEscaped)"
        appendonly yes
        appendfsync everysec
        save ""
        maxmemory-policy noeviction
        lazyfree-lazy-expire yes
        daemonize no

        """
    }

    /// Does not write if the file is up to date: a full disk may have no room even for it.
    private static func write(_ text: String, to home: EmbeddedHome) throws(BrokerError) {
        let path = home.configuration
        if FileManager.default.contents(atPath: path) == Data(text.utf8) { return }
        do { try text.write(toFile: path, atomically: true, encoding: .utf8) } catch {
            let reason = home.isFull ? "its disk is full; make room on it" : FileProblem.words(for: error)
            throw BrokerError(.notReachable, "cannot write \(path): \(reason)")
        }
    }

    /// Finds redis-cli or valkey-cli, beside the server or on PATH. Each talks to both servers.
    private static func client(of server: String) -> String? {
        let beside = URL(fileURLWithPath: server).deletingLastPathComponent().path
        let path = "\(beside):\(searchPath)"
        return find("redis-cli", in: path) ?? find("valkey-cli", in: path)
    }

    private static var searchPath: String {
        ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    }

    private static func find(_ program: String, in path: String = searchPath) -> String? {
        path.split(separator: ":").map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }

    /// Starts a process in its own session, for which the caller does not wait.
    private static func spawn(_ words: [String]) throws(BrokerError) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setUsualSignals(of: &attributes, andFlags: inNewSession)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // A pipe that receives the caller's output must end with the caller, not with the guardian.
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0)
        for output in [Int32(1), 2] { posix_spawn_file_actions_adddup2(&actions, 0, output) }
        closeOthers(&actions)
        let arguments = words.map { strdup($0) } + [nil]
        let environment =
            ProcessInfo.processInfo.environment.withoutSecrets.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid = pid_t()
        let failure = posix_spawn(&pid, words[0], &actions, &attributes, arguments, environment)
        guard failure == 0 else {
            throw BrokerError(
                .notReachable,
                "cannot start \(words[0]) for the embedded broker: \(String(cString: strerror(failure)))"
            )
        }
        let child = pid
        // The guardian outlives most of the processes that start one; a process that still lives reaps it.
        let reaper = Thread { waitpid(child, nil, 0) }
        reaper.name = "errand-guardian-reaper"
        reaper.start()
    }

    /// The guardian must not inherit open files of the caller: a copy would keep a port or a pipe open while the
    /// guardian lives.
    private static func closeOthers(_ actions: inout posix_spawn_file_actions_t) {
        #if os(Linux)
            // Closes by number, with a margin for files that other threads open meanwhile: closing an unused number
            // does no harm.
            let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            let highest = open.compactMap { Int32($0) }.max() ?? 1024
            for descriptor in 3..<highest + 256 { posix_spawn_file_actions_addclose(&actions, descriptor) }
        #endif
    }

    /// `POSIX_SPAWN_SETSID`; Glibc declares it behind a macro that Swift does not import. The other flag on Darwin
    /// replaces `closeOthers`.
    #if os(Linux)
        private static let inNewSession: Int32 = 0x80
    #else
        private static let inNewSession = Int32(POSIX_SPAWN_SETSID) | Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
    #endif

    /// Waits until the server replies, and starts it if there is none.
    ///
    /// The lock shows whether there is a server; a server that does not reply at once is busy, not gone.
    static func awaitServer(of home: EmbeddedHome, _ address: RedisAddress) throws(BrokerError) {
        let deadline = ContinuousClock.now + .seconds(30)
        var isStarted = false
        while ContinuousClock.now < deadline {
            if EmbeddedBroker.isAnswering(address) { return }
            if !isStarted, try !FileLock.isHeld(home.serverLock) {
                try start(home)
                isStarted = true
            }
            Thread.sleep(forTimeInterval: isStarted ? 0.01 : 0.1)
        }
        let reason = home.isFull ? "; the disk of \(home.directory) is full" : ""
        throw BrokerError(
            .notReachable,
            "the embedded broker has not replied for 30 s\(reason); its log is \(home.log)"
        )
    }
}

extension String {
    /// The text as a quoted value of redis.conf.
    fileprivate var configurationEscaped: String {
        replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
