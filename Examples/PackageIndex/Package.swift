// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "package-index",
  dependencies: [.package(name: "cambium", path: "../..")],
  targets: [
    .executableTarget(
      name: "package-index",
      dependencies: [.product(name: "Cambium", package: "cambium")],
      path: "Sources/PackageIndex",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
      ])
  ],
  swiftLanguageModes: [.v6]
)
