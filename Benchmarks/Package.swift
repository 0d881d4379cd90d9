// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library need not build other engines.

// The library's package is called after the folder that it is in. Benchmarks see what it has for its own tests: a target
// that is compiled under that name counts as a part of the package.
let libraryFolder = Context.packageDirectory.split(separator: "/").dropLast().last ?? "cambium"
let libraryPackage = String(
  libraryFolder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })

var settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
]

// As in the library's package.
if Context.environment["CAMBIUM_WARNINGS"] == "errors" {
  settings.append(.treatAllWarnings(as: .error))
}

let package = Package(
  name: "cambium-benchmarks",
  products: [
    .executable(name: "cambium-bench", targets: ["CambiumBench"])
  ],
  traits: [
    .trait(
      name: "Service",
      description: "Has no effect here, so that builds can share the library.")
  ],
  dependencies: [
    // Named, because a path's own name is whatever the clone's directory is called.
    .package(
      name: "cambium", path: "..",
      traits: [.trait(name: "Service", condition: .when(traits: ["Service"]))]),
    .package(
      url: "https://github.com/apple/swift-argument-parser", .upToNextMinor(from: "1.8.2")),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CLMDB", providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(name: "CRocksDB", providers: [.apt(["librocksdb-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    // zstd by hand. The library has a module for it too, which is not for others.
    .systemLibrary(name: "CStockZstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CMalloc"),
    // The treatment of results, apart from the engines, so that its tests need none of them.
    .target(name: "BenchmarkReport", swiftSettings: settings),
    .testTarget(
      name: "BenchmarkReportTests", dependencies: ["BenchmarkReport"], swiftSettings: settings),
    .executableTarget(
      name: "CambiumBench",
      dependencies: [
        "BenchmarkReport",
        "CLMDB",
        "CMalloc",
        "CRocksDB",
        "CSQLite",
        "CStockZstd",
        .product(name: "Cambium", package: "cambium"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "GRDB", package: "GRDB.swift"),
      ],
      packageAccess: false,
      swiftSettings: settings + [.unsafeFlags(["-package-name", libraryPackage])]),
  ],
  swiftLanguageModes: [.v6]
)
