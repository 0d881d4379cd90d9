import FoundationEssentials

/// The cluster of `Scripts/cluster`, which starts these tests with itself in the environment.
struct Cluster: Sendable {
  private let script: String
  /// The number of failovers to test.
  let failoverCount: Int

  static let shared: Cluster? = {
    let environment = ProcessInfo.processInfo.environment
    guard let script = environment["CAMBIUM_CLUSTER_SCRIPT"],
      let count = environment["CAMBIUM_FAILOVERS"].flatMap({ Int($0) })
    else { return nil }
    return Cluster(script: script, failoverCount: count)
  }()
  static let missing = "There is no cluster: Scripts/cluster test starts one, and runs these tests"

  struct Failure: Error {
    let verb: String
    let status: Int32
  }

  /// Runs the script, and returns its output without the last end of line.
  @discardableResult
  func run(_ verb: String) async throws -> String {
    let file = "/tmp/cambium-cluster-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: file) }
    // On a thread of its own: it waits for the cluster.
    let result = await withCheckedContinuation { continuation in
      Thread.run { continuation.resume(returning: status(of: "'\(script)' \(verb) > '\(file)'")) }
    }
    guard result == 0 else { throw Failure(verb: verb, status: result) }
    let text = try String(contentsOfFile: file, encoding: .utf8)
    return text.hasSuffix("\n") ? String(text.dropLast()) : text
  }

  /// A server that became the primary, with times in seconds since 1970.
  struct Promotion: Sendable {
    let time: Double
    /// The time since when commits have had a stand-by to wait for; nil if they still have none.
    let ready: Double?
  }

  /// All promotions, in their order.
  func promotions() async throws -> [Promotion] {
    try await run("promotions").split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ")
      guard parts.count == 3, let time = Double(parts[0]) else { return nil }
      return Promotion(time: time, ready: Double(parts[2]))
    }
  }
}
