import Foundation
import Testing

/// The files of a deployment name what the service has.
@Suite struct DeploymentTests {
  private static let examples = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Examples")

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: examples.appending(path: path), encoding: .utf8)
  }

  @Test func `the probes of Kubernetes are requests that the service answers`() throws {
    let manifest = try Self.text("Deployment/orders.yaml")
    let probes = manifest.matches(of: /(\w+)Probe:\s+httpGet: \{path: \/([^,]+),/)
      .map { (String($0.1), String($0.2)) }
    #expect(probes.map(\.0) == ["liveness", "readiness"])
    let routes = try Self.text("Service/Sources/OrderService/Routes.swift")
    for (probe, path) in probes {
      #expect(routes.contains("router.get(\"\(path)\")"), "\(probe): /\(path)")
    }
  }
}
