// swift-tools-version: 6.2
import PackageDescription

// A package of its own, which `Scripts/fuzz` builds: in it the library is compiled with the fuzzer's coverage.

var settings: [SwiftSetting] = [
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  // For libFuzzer's own function that changes bytes.
  .enableExperimentalFeature("Extern"),
]

// As in the library's package.
if Context.environment["CAMBIUM_WARNINGS"] == "errors" {
  settings.append(.treatAllWarnings(as: .error))
}

let package = Package(
  name: "cambium-fuzzing",
  dependencies: [
    // Named, because a path's own name is whatever the clone's directory is called.
    .package(name: "cambium", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "CambiumFuzz",
      dependencies: [.product(name: "Cambium", package: "cambium")],
      swiftSettings: settings)
  ],
  swiftLanguageModes: [.v6]
)
