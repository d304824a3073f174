// swift-tools-version:6.2
import PackageDescription

// The example as a package of its own; copy this folder and say the version that you use instead of the path.
let package = Package(
    name: "web-service",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "errand", path: "../..", traits: ["ConfigurationSupport", "HummingbirdSupport"]),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "WebService",
            dependencies: [
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandHummingbird", package: "errand"),
                .product(name: "ErrandRedis", package: "errand"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "WebServiceTests",
            dependencies: [
                "WebService",
                .product(name: "Errand", package: "errand"),
                .product(name: "ErrandTesting", package: "errand"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests"
        ),
    ]
)
