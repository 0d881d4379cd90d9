// swift-tools-version: 6.2
import PackageDescription

// The library's package is called after the folder that it is in. The pages show more of a store than programs need: a
// target that is compiled under that name counts as a part of the package.
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
  name: "cambium-browser",
  products: [.executable(name: "cambium-browse", targets: ["CambiumBrowse"])],
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
    .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.0.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.0.0"),
  ],
  targets: [
    // The pages: from a request to a response, as values, with nothing but the library.
    .target(
      name: "CambiumBrowser", dependencies: [.product(name: "Cambium", package: "cambium")],
      packageAccess: false, swiftSettings: settings),
    // The socket, and the arguments.
    .executableTarget(
      name: "CambiumBrowse",
      dependencies: [
        "CambiumBrowser",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Cambium", package: "cambium"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      packageAccess: false, swiftSettings: settings),
    // Runs the program as it was built beside the tests.
    .testTarget(
      name: "BrowserTests",
      dependencies: [
        "CambiumBrowser", "CambiumBrowse", .product(name: "Cambium", package: "cambium"),
      ],
      packageAccess: false, swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
