// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // Views over pages are `~Escapable`; users of the library need no flag.
  .enableExperimentalFeature("Lifetimes"),
]

// Only where this repository is tested: a newer compiler may have new warnings, and programs must build with it all the same.
if Context.environment["CAMBIUM_WARNINGS"] == "errors" {
  settings.append(.treatAllWarnings(as: .error))
}

extension Target.Dependency {
  /// A product that is taken with the trait `Service` only.
  static func ofService(_ product: String, _ package: String) -> Self {
    .product(name: product, package: package, condition: .when(traits: ["Service"]))
  }
}

// On macOS the package manager asks pkg-config for Homebrew's directories. Elsewhere the module map names the library: what
// pkg-config says would be linked whatever the traits are.
#if os(macOS)
  let zstdPackage: String? = "libzstd"
#else
  let zstdPackage: String? = nil
#endif

let package = Package(
  name: "cambium",
  products: [
    .library(name: "Cambium", targets: ["Cambium"]),
    // For the tests of programs: stores of older versions, every path between versions, power cuts.
    .library(name: "CambiumTesting", targets: ["CambiumTesting"]),
    // For code that comes from SwiftData or CoreStore: their names, over the public API of the library.
    .library(name: "CambiumSwiftData", targets: ["CambiumSwiftData"]),
    .library(name: "CambiumCoreStore", targets: ["CambiumCoreStore"]),
    // Models by changes and migration policies, for programs that come from Crush.
    .library(name: "CambiumCrush", targets: ["CambiumCrush"]),
    // A store as a part of a service: opened, watched and closed; metrics and traces. Empty without the trait `Service`.
    .library(name: "CambiumService", targets: ["CambiumService"]),
    // What operators run: explains, checks, copies and migrates any store.
    .executable(name: "cambium", targets: ["CambiumCommand"]),
  ],
  traits: [
    .trait(
      name: "Service",
      description: "CambiumService: a store in a service, with metrics and traces."),
    .trait(
      name: "StaticZstd",
      description: "On Linux: links the static library of zstd; programs need no libzstd."),
  ],
  dependencies: [
    // What services log through.
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
    // What the command reads its arguments with; the library has no part of it.
    .package(
      url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    // With the trait `Service` only: what starts and ends the parts of a service, and what they report through.
    .package(
      url: "https://github.com/swift-server/swift-service-lifecycle",
      .upToNextMinor(from: "2.13.0")),
    .package(url: "https://github.com/apple/swift-metrics", .upToNextMinor(from: "2.13.0")),
    .package(
      url: "https://github.com/apple/swift-distributed-tracing", .upToNextMinor(from: "1.7.3")),
  ],
  targets: [
    .target(name: "CCambium"),
    .systemLibrary(
      name: "CZstd", pkgConfig: zstdPackage,
      providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
    // The same header, and the other library.
    .systemLibrary(name: "CStaticZstd"),
    .target(
      name: "Cambium",
      dependencies: [
        "CCambium", "CZstd", .target(name: "CStaticZstd", condition: .when(traits: ["StaticZstd"])),
        .product(name: "Logging", package: "swift-log"),
      ]),
    .target(name: "TestSupport", dependencies: ["Cambium"], path: "Tests/TestSupport"),
    .target(name: "CambiumSwiftData", dependencies: ["Cambium"], packageAccess: false),
    .target(
      name: "CambiumCoreStore",
      dependencies: ["Cambium", .product(name: "Logging", package: "swift-log")],
      packageAccess: false),
    .target(name: "CambiumTesting", dependencies: ["Cambium", "TestSupport"]),
    .target(
      name: "CambiumCrush",
      dependencies: ["Cambium", .product(name: "Logging", package: "swift-log")],
      packageAccess: false),
    .target(
      name: "CambiumService",
      dependencies: [
        "Cambium", .product(name: "Logging", package: "swift-log"),
        .ofService("ServiceLifecycle", "swift-service-lifecycle"),
        .ofService("Metrics", "swift-metrics"), .ofService("Tracing", "swift-distributed-tracing"),
      ],
      packageAccess: false),
    // Sees what is internal, as the tests that use it do; so it is a target for tests, without any of its own.
    .testTarget(
      name: "InternalTestSupport", dependencies: ["Cambium", "CambiumTesting", "TestSupport"]),
    // Three modules of about the same size, for two cores: a module is compiled by one.
    .testTarget(
      name: "EngineTests",
      dependencies: ["Cambium", "CCambium", "InternalTestSupport", "TestSupport"]),
    .testTarget(
      name: "CambiumTests",
      dependencies: ["Cambium", "CambiumTesting", "InternalTestSupport", "TestSupport"]),
    .testTarget(
      name: "StoreTests",
      dependencies: ["Cambium", "CambiumTesting", "InternalTestSupport", "TestSupport"]),
    // Measures code of programs, which is optimized.
    .testTarget(
      name: "SpeedTests", dependencies: ["Cambium", "InternalTestSupport", "TestSupport"]),
    .testTarget(name: "UnreflectedTests", dependencies: ["Cambium"]),
    .executableTarget(
      name: "CambiumCommand",
      dependencies: [
        "Cambium", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    // Runs the command as it was built beside the tests.
    .testTarget(
      name: "CommandTests", dependencies: ["Cambium", "InternalTestSupport", "TestSupport"],
      exclude: ["Fixtures"]),
    // Empty without the trait `Service`.
    .testTarget(
      name: "ServiceTests",
      dependencies: [
        "Cambium", "CambiumService", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
        .ofService("ServiceLifecycle", "swift-service-lifecycle"),
        .ofService("ServiceLifecycleTestKit", "swift-service-lifecycle"),
        .ofService("CoreMetrics", "swift-metrics"), .ofService("MetricsTestKit", "swift-metrics"),
        .ofService("Tracing", "swift-distributed-tracing"),
        .ofService("InMemoryTracing", "swift-distributed-tracing"),
      ]),
    // The code of documents about other libraries, in the dialects.
    .testTarget(
      name: "DialectTests",
      dependencies: [
        "Cambium", "CambiumSwiftData", "CambiumCoreStore", "CambiumCrush", "CambiumTesting",
        "TestSupport",
      ]),
    .testTarget(
      name: "DocumentationTests",
      dependencies: [
        "Cambium", "CambiumTesting", "CambiumSwiftData", "CambiumCoreStore", "CambiumCrush",
        "CambiumService",
      ],
      exclude: ["Preludes"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where !["CCambium", "CZstd", "CStaticZstd"].contains(target.name) {
  target.swiftSettings = settings
}

// Without the optimizer, which takes longer than these gain by it: their work is done in the library.
for target in package.targets
where [
  "CambiumTests", "CommandTests", "DialectTests", "DocumentationTests", "ServiceTests",
  "StoreTests",
].contains(target.name) {
  // The compiler would check such a module twice, once for what others may import.
  target.swiftSettings?.append(.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"]))
}

for target in package.targets where target.name == "UnreflectedTests" {
  target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-disable-reflection-metadata"]))
}
