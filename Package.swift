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
    // What operators run: explains, checks, copies and migrates any store.
    .executable(name: "cambium", targets: ["CambiumCommand"]),
  ],
  dependencies: [
    // What services log through.
    .package(url: "https://github.com/apple/swift-log", .upToNextMinor(from: "1.16.2")),
    // What the command reads its arguments with; the library has no part of it.
    .package(
      url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
  ],
  targets: [
    .target(name: "CCambium"),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .target(
      name: "Cambium",
      dependencies: ["CCambium", "CZstd", .product(name: "Logging", package: "swift-log")]),
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
      ],
      exclude: ["Preludes"]),
  ],
  swiftLanguageModes: [.v6]
)

for target in package.targets where !["CCambium", "CZstd"].contains(target.name) {
  target.swiftSettings = settings
}

// Without the optimizer, which takes longer than these gain by it: they sweep over nothing.
for target in package.targets
where ["CommandTests", "DialectTests", "DocumentationTests"].contains(target.name) {
  target.swiftSettings?.append(.unsafeFlags(["-Onone"]))
}

for target in package.targets where target.name == "UnreflectedTests" {
  target.swiftSettings?.append(.unsafeFlags(["-Xfrontend", "-disable-reflection-metadata"]))
}
