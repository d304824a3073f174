// swift-tools-version:6.2
import PackageDescription

#if os(macOS)
    // Homebrew's prefix is not among the default search paths.
    let hiredisPkgConfig: String? = "hiredis"
#else
    // Debian's hiredis.pc carries a flag that SwiftPM warns about; the default paths are enough.
    let hiredisPkgConfig: String? = nil
#endif

/// One transition of the data model each; the text is embedded in the binary.
let scripts = [
    "lib_audit", "lib_audit_groups", "lib_audit_names", "lib_audit_pages", "lib_audit_positions", "lib_audit_schedules",
    "lib_audit_workflows", "lib_backlog", "lib_base", "lib_call", "lib_charges", "lib_checked", "lib_claim_texts",
    "lib_claims", "lib_clock", "lib_counts", "lib_dispatch", "lib_ended", "lib_endings", "lib_events", "lib_fields",
    "lib_gathering", "lib_groups", "lib_headers", "lib_history", "lib_idle", "lib_idle_promotion", "lib_idle_recovery",
    "lib_levels", "lib_lists", "lib_names", "lib_outages", "lib_plain_call", "lib_plain_push", "lib_push",
    "lib_push_checks", "lib_queue", "lib_rates", "lib_reading", "lib_replacements", "lib_reports", "lib_request",
    "lib_rules", "lib_schedules", "lib_sessions", "lib_shares", "lib_statistics", "lib_totals", "lib_types",
    "lib_wakeups", "lib_workflow_states", "lib_workflows",
    "audit", "cancel", "check", "clear", "cursor", "exchange", "flow", "heartbeat", "inspect", "promote", "push",
    "queue", "reconcile", "record", "recover", "register", "release", "retry", "schedule", "settings", "statistics",
    "status", "stream", "tick", "timetable", "unschedule", "update", "workflow", "workflows",
]

/// The dashboard's templates and files; embedded in the binary as well.
let dashboardFiles =
    [
        "actions", "charts", "confirm", "errorGroups", "events", "found", "groups", "job", "jobFilter", "jobRows",
        "jobs", "layout", "moment", "overview", "problem", "push", "queue", "queueTable", "ruleForm", "run", "schedule",
        "schedules", "times", "timesCells", "workerRows", "workers", "workflow", "workflows",
    ].map { "Templates/\($0).mustache" } + ["Assets/errand.css", "Assets/errand.js", "Assets/icon.svg"]

/// Returns a product of another package; `trait` is the trait that asks for it.
func product(_ name: String, of package: String, for trait: String? = nil) -> Target.Dependency {
    .product(name: name, package: package, condition: trait.flatMap { .when(traits: [$0]) })
}

let argumentParser = product("ArgumentParser", of: "swift-argument-parser", for: "CommandLine")
let configuration = product("Configuration", of: "swift-configuration", for: "ConfigurationSupport")
let crypto = product("Crypto", of: "swift-crypto")
let hummingbird = product("Hummingbird", of: "hummingbird", for: "HummingbirdSupport")
let inMemoryLogging = product("InMemoryLogging", of: "swift-log")
let logging = product("Logging", of: "swift-log")
let metrics = product("Metrics", of: "swift-metrics", for: "MetricsSupport")
let serviceLifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle")
let unixSignals = product("UnixSignals", of: "swift-service-lifecycle")
let yams = product("Yams", of: "Yams", for: "CommandLine")

let package = Package(
    name: "errand",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Backgroundable", targets: ["Backgroundable"]),
        .library(name: "Errand", targets: ["Errand"]),
        .library(name: "ErrandRedis", targets: ["ErrandRedis"]),
        .library(name: "ErrandHummingbird", targets: ["ErrandHummingbird"]),
        .library(name: "ErrandTesting", targets: ["ErrandTesting"]),
        .library(name: "ErrandWebhooks", targets: ["ErrandWebhooks"]),
        .executable(name: "errand-producer", targets: ["errand-producer"]),
        .executable(name: "errand-worker", targets: ["errand-worker"]),
        .executable(name: "errand", targets: ["ErrandConsole"]),
        .library(name: "ErrandDashboard", targets: ["ErrandDashboard"]),
        .executable(name: "errand-dashboard", targets: ["errand-dashboard"]),
    ],
    traits: [
        .trait(name: "MetricsSupport", description: "Middleware that counts and times jobs through swift-metrics."),
        .trait(
            name: "TracingSupport",
            description: "Middleware that lets traces follow jobs through swift-distributed-tracing."
        ),
        .trait(name: "ConfigurationSupport", description: "Settings read through swift-configuration."),
        .trait(name: "CommandLine", description: "The executables errand, errand-producer and errand-worker."),
        .trait(
            name: "HummingbirdSupport",
            description: "Answers of Hummingbird's routes for errors of Errand; it builds an HTTP server."
        ),
        .trait(
            name: "Dashboard",
            description: "The dashboard; it builds an HTTP server.",
            enabledTraits: ["CommandLine", "HummingbirdSupport"]
        ),
        .default(
            enabledTraits: ["MetricsSupport", "TracingSupport", "ConfigurationSupport", "CommandLine", "Dashboard"]
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "Backgroundable"),
        .target(name: "ErrandText"),
        .target(
            name: "Errand",
            dependencies: [
                "Backgroundable", "ErrandText", configuration, logging, metrics, serviceLifecycle, unixSignals,
                product("Tracing", of: "swift-distributed-tracing", for: "TracingSupport"),
            ]
        ),
        .target(name: "ErrandTesting", dependencies: ["Errand", logging]),
        .target(name: "ErrandWebhooks", dependencies: ["Errand", "ErrandHTTP", crypto, logging, serviceLifecycle]),
        // Requests to web servers, of webhooks and catalogues.
        .target(name: "ErrandHTTP", dependencies: ["Backgroundable", "CErrandCurl", "ErrandText"]),
        // The library that Foundation's networking is linked with, too; by its file's name, so that no headers are needed.
        .target(
            name: "CErrandCurl",
            linkerSettings: [
                .linkedLibrary(":libcurl.so.4", .when(platforms: [.linux])),
                .linkedLibrary("curl", .when(platforms: [.macOS])),
            ]
        ),
        .systemLibrary(
            name: "CHiredis",
            pkgConfig: hiredisPkgConfig,
            providers: [.apt(["libhiredis-dev"]), .yum(["hiredis-devel"]), .brew(["hiredis"])]
        ),
        .target(
            name: "ErrandRedis",
            dependencies: ["Backgroundable", "CHiredis", "Errand", "ErrandText", configuration, logging],
            resources: scripts.map { .embedInCode("Scripts/\($0).lua") }
        ),
        .target(name: "CErrandChild"),
        .target(name: "CErrandMemory"),
        .target(
            name: "ErrandCatalogue",
            dependencies: ["Backgroundable", "CErrandChild", "Errand", "ErrandHTTP", "ErrandText", logging, yams]
        ),
        // What operators see and do; the console and the dashboard are its faces.
        .target(name: "ErrandOperator", dependencies: ["Errand", "ErrandText"]),
        .target(
            name: "ErrandCommandLine",
            dependencies: [
                "CErrandMemory", "Errand", "ErrandCatalogue", "ErrandOperator", "ErrandRedis", "ErrandText",
                argumentParser, logging, metrics, serviceLifecycle,
            ]
        ),
        .executableTarget(
            name: "errand-producer",
            dependencies: ["ErrandCommandLine", "ErrandOperator", "ErrandRedis", "ErrandText"]
        ),
        .executableTarget(
            name: "errand-worker",
            dependencies: ["Backgroundable", "Errand", "ErrandCatalogue", "ErrandCommandLine", "ErrandOperator"]
        ),
        .executableTarget(
            name: "ErrandConsole",
            dependencies: [
                "Errand", "ErrandCatalogue", "ErrandCommandLine", "ErrandOperator", "ErrandRedis", "ErrandText",
                argumentParser, logging,
            ]
        ),
        .target(name: "ErrandHummingbird", dependencies: ["Errand", hummingbird, logging]),
        .target(name: "ErrandDashboardTrait"),
        .target(
            name: "ErrandDashboard",
            dependencies: [
                "Errand", "ErrandDashboardTrait", "ErrandOperator", "ErrandText", hummingbird, logging,
                serviceLifecycle,
                product("Mustache", of: "swift-mustache", for: "Dashboard"),
            ],
            resources: dashboardFiles.map { .embedInCode($0) }
        ),
        .executableTarget(
            name: "errand-dashboard",
            dependencies: [
                "Errand", "ErrandCommandLine", "ErrandDashboard", "ErrandRedis", "ErrandText", argumentParser, crypto,
                hummingbird, logging, serviceLifecycle,
            ]
        ),
        .executableTarget(
            name: "BackgroundableBench",
            dependencies: ["Backgroundable"],
            path: "Benchmarks/BackgroundableBench"
        ),
        .executableTarget(
            name: "errand-termination-probe",
            dependencies: ["Backgroundable"],
            path: "Tests/Support/TerminationProbe"
        ),
        .testTarget(
            name: "BackgroundableTests",
            dependencies: ["Backgroundable", "TestSupport", "errand-termination-probe"]
        ),
        .target(
            name: "ErrandConformance",
            dependencies: ["Errand", logging],
            path: "Tests/ErrandConformance"
        ),
        .testTarget(
            name: "ErrandTests",
            dependencies: [
                "Errand", "ErrandConformance", "ErrandRedis", "ErrandTesting", "ErrandText", "ErrandWebhooks",
                "TestSupport", configuration, crypto, inMemoryLogging, logging, serviceLifecycle,
                product("InMemoryTracing", of: "swift-distributed-tracing", for: "TracingSupport"),
                product("MetricsTestKit", of: "swift-metrics", for: "MetricsSupport"),
            ]
        ),
        .testTarget(
            name: "ErrandRedisTests",
            dependencies: ["Errand", "ErrandConformance", "ErrandRedis", "TestSupport", inMemoryLogging],
            exclude: ["Wire/push.py"]
        ),
        .executableTarget(
            name: "errand-child-probe",
            dependencies: ["ErrandCatalogue"],
            path: "Tests/Support/ChildProbe"
        ),
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        .executableTarget(
            name: "errand-fault-worker",
            dependencies: ["Errand", "ErrandRedis", argumentParser, logging, serviceLifecycle, unixSignals],
            path: "Tests/Faults/Worker"
        ),
        .executableTarget(
            name: "errand-faults",
            dependencies: [
                "Errand", "ErrandCommandLine", "ErrandOperator", "ErrandRedis", "TestSupport", argumentParser, logging,
            ],
            path: "Tests/Faults/Harness",
            exclude: ["Tools/storm.py"],
            // The optimizer of Swift 6.3 crashes on the scenarios' closures, and they only wait.
            swiftSettings: [.unsafeFlags(["-Onone"])]
        ),
        .target(
            name: "FuzzTargets",
            dependencies: ["Errand", "ErrandCatalogue", "ErrandRedis", "ErrandText"],
            path: "Tests/Fuzzing/Targets"
        ),
        .testTarget(name: "FuzzingTests", dependencies: ["FuzzTargets"], path: "Tests/Fuzzing/Replay"),
        .target(
            name: "ErrandModel",
            dependencies: ["Errand", "ErrandRedis", "TestSupport", logging],
            path: "Tests/Model/ErrandModel",
            // It computes for minutes, also when everything else is built for debugging.
            swiftSettings: [.unsafeFlags(["-O"])]
        ),
        .executableTarget(
            name: "errand-model",
            dependencies: ["ErrandModel", "TestSupport", argumentParser],
            path: "Tests/Model/errand-model"
        ),
        .testTarget(
            name: "ModelTests",
            dependencies: ["ErrandModel", "TestSupport"],
            path: "Tests/Model/ModelTests"
        ),
        // The guides' programs, and every other piece of Swift in the documentation.
        .executableTarget(
            name: "errand-example-from-swift-jobs",
            dependencies: ["Errand", "ErrandRedis", logging, serviceLifecycle, unixSignals],
            path: "Examples/FromSwiftJobs"
        ),
        .executableTarget(
            name: "errand-example-from-vapor-queues",
            dependencies: ["Errand", "ErrandRedis"],
            path: "Examples/FromVaporQueues"
        ),
        // A whole application; Examples/PhotoService has a manifest of its own for whoever copies it.
        .target(name: "Photos", dependencies: ["Errand"], path: "Examples/PhotoService/Sources/Photos"),
        .executableTarget(
            name: "errand-example-photo-server",
            dependencies: [
                "ErrandDashboard", "ErrandRedis", "Photos", configuration, crypto, hummingbird, logging,
                serviceLifecycle,
            ],
            path: "Examples/PhotoService/Sources/PhotoServer"
        ),
        .executableTarget(
            name: "errand-example-photo-worker",
            dependencies: ["ErrandRedis", "Photos", configuration, logging],
            path: "Examples/PhotoService/Sources/PhotoWorker"
        ),
        .executableTarget(
            name: "WebService",
            dependencies: [
                "Errand", "ErrandHummingbird", "ErrandRedis", configuration, hummingbird, logging, serviceLifecycle,
                unixSignals,
            ],
            path: "Examples/WebService/Sources/WebService"
        ),
        .testTarget(
            name: "WebServiceTests",
            dependencies: ["Errand", "ErrandTesting", "WebService", logging],
            path: "Examples/WebService/Tests"
        ),
        .testTarget(
            name: "SnippetTests",
            dependencies: [
                "Backgroundable", "Errand", "ErrandCatalogue", "ErrandConformance", "ErrandDashboard", "ErrandRedis",
                "ErrandTesting", "ErrandText", "ErrandWebhooks", configuration, hummingbird, logging, serviceLifecycle,
                unixSignals,
            ],
            path: "Examples/Snippets"
        ),
        .testTarget(
            name: "ErrandCatalogueTests",
            dependencies: [
                "CErrandChild", "Errand", "ErrandCatalogue", "ErrandText", "TestSupport", "errand-child-probe",
            ]
        ),
        .testTarget(
            name: "ExecutableTests",
            dependencies: [
                "Errand", "ErrandCommandLine", "ErrandDashboard", "ErrandOperator", "ErrandRedis", "TestSupport",
                hummingbird, logging, metrics, yams,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// The fuzzer needs libFuzzer, so only `scripts/fuzz` has it built; our modules tell it which branches an input took.
if Context.environment["ERRAND_FUZZ"] != nil {
    package.targets += [
        .target(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
        .executableTarget(
            name: "errand-fuzz",
            dependencies: ["CFuzzer", "FuzzTargets"],
            path: "Tests/Fuzzing/Fuzzer",
            linkerSettings: [.unsafeFlags(["-sanitize=address"])]
        ),
    ]
    let coverage = "-sanitize-coverage=edge,trace-cmp,inline-8bit-counters,pc-table"
    for target in package.targets where ["Errand", "ErrandCatalogue", "ErrandRedis"].contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-O", "-sanitize=address", coverage])]
    }
}

// `make docs` alone needs the plugin; who depends on this package does not resolve it.
if Context.environment["ERRAND_DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"))
}

for target in package.targets
where [.regular, .executable, .test].contains(target.type)
    && !["CErrandChild", "CErrandCurl", "CErrandMemory", "CFuzzer"].contains(target.name)
{
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("InternalImportsByDefault"),
        ]
    // The example is built as its readers build it, without features of a later Swift.
    if !["WebService", "WebServiceTests"].contains(target.name) {
        target.swiftSettings? += [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
    }
    if Context.environment["ERRAND_STRICT"] != nil {
        // The model explores the queue of `MemoryBroker` for minutes, also when everything is built for debugging.
        if target.name == "Errand" { target.swiftSettings? += [.unsafeFlags(["-O"])] }
        target.swiftSettings? += [.treatAllWarnings(as: .error)]
        if target.type == .regular {
            target.swiftSettings? += [.unsafeFlags(["-Xfrontend", "-require-explicit-sendable"])]
        }
    }
}
