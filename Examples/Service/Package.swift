// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "order-service",
  traits: [
    .trait(
      name: "Service",
      description: "Has no effect here, so that builds can share the library."
    )
  ],
  dependencies: [
    // The trait brings the product `CambiumService`, and the packages that it needs.
    .package(name: "cambium", path: "../..", traits: ["Service"]),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.0.0"),
  ],
  targets: [
    .executableTarget(
      name: "order-service",
      dependencies: [
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumService", package: "cambium"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Sources/OrderService",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
