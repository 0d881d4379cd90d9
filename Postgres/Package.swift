// swift-tools-version: 6.2
import PackageDescription

// The library's package is called after the folder that it is in. The plan of a database takes more of a schema than
// programs need: a target that is compiled under that name counts as a part of the package.
let libraryFolder = Context.packageDirectory.split(separator: "/").dropLast().last ?? "cambium"
let libraryPackage = String(
  libraryFolder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })

var settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .unsafeFlags(["-package-name", libraryPackage]),
]

// As in the library's package.
if Context.environment["CAMBIUM_WARNINGS"] == "errors" {
  settings.append(.treatAllWarnings(as: .error))
}

let package = Package(
  name: "cambium-postgres",
  products: [
    .executable(name: "cambium-postgres", targets: ["CambiumPostgresCommand"]),
    .executable(name: "cambium-postgres-bench", targets: ["CambiumPostgresBench"]),
    .library(name: "CambiumPostgres", targets: ["CambiumPostgres"]),
  ],
  traits: [
    .trait(
      name: "Service",
      description: "Has no effect here, so that builds can share the library."),
    .trait(name: "StaticZstd", description: "That of the library: programs run without libzstd."),
  ],
  dependencies: [
    .package(
      name: "cambium", path: "..",
      traits: [
        .trait(name: "Service", condition: .when(traits: ["Service"])),
        .trait(name: "StaticZstd", condition: .when(traits: ["StaticZstd"])),
      ]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  ],
  targets: [
    .systemLibrary(
      name: "CPostgres", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    // For SHA-256, which the server computes as well. libpq needs it in any case.
    .systemLibrary(
      name: "COpenSSL", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
    // The plan, the move and the comparison, what follows a move, and a store on a server.
    .target(
      name: "CambiumPostgres",
      dependencies: ["CPostgres", "COpenSSL", .product(name: "Cambium", package: "cambium")],
      packageAccess: false, swiftSettings: settings),
    // The arguments and the output.
    .executableTarget(
      name: "CambiumPostgresCommand",
      dependencies: [
        "CambiumPostgres",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cambium", package: "cambium"),
      ],
      packageAccess: false, swiftSettings: settings),
    // A program in C on libpq, and the benchmark that compares a store with it.
    .target(name: "LibpqPeer", dependencies: ["CPostgres"]),
    .executableTarget(
      name: "CambiumPostgresBench",
      dependencies: [
        "CambiumPostgres", "LibpqPeer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cambium", package: "cambium"),
      ],
      packageAccess: false, swiftSettings: settings),
    // Starts a server of its own, and the program as it was built beside the tests.
    .testTarget(
      name: "PostgresTests",
      dependencies: [
        "CambiumPostgres", "CambiumPostgresCommand",
        .product(name: "Cambium", package: "cambium"),
        .product(name: "CambiumTesting", package: "cambium"),
      ],
      packageAccess: false, swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
