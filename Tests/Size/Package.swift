// swift-tools-version: 6.2
import PackageDescription

// Two programs that `Scripts/size` compares: the README's fifteen lines, and the same without a store.

let package = Package(
  name: "cambium-size",
  traits: [
    .trait(
      name: "Service",
      description: "Has no effect here, so that builds can share the library.")
  ],
  dependencies: [
    // Named, because a path's own name is whatever the clone's directory is called.
    .package(
      name: "cambium", path: "../..",
      traits: [.trait(name: "Service", condition: .when(traits: ["Service"]))])
  ],
  targets: [
    .executableTarget(
      name: "Stored", dependencies: [.product(name: "Cambium", package: "cambium")]),
    .executableTarget(name: "Kept"),
  ],
  swiftLanguageModes: [.v6]
)
