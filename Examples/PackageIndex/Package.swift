// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "package-index",
  traits: [
    .trait(
      name: "Service",
      description: "Has no effect here, so that builds can share the library.")
  ],
  dependencies: [
    .package(
      name: "cambium", path: "../..",
      traits: [.trait(name: "Service", condition: .when(traits: ["Service"]))])
  ],
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
