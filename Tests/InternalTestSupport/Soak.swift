import Glibc

/// How much longer than in CI the tests with real processes, threads and time are to run.
enum Soak {
  /// The factor in the environment: `CAMBIUM_SOAK=20` is twenty times as much.
  static let factor: Int = {
    guard let text = unsafe getenv("CAMBIUM_SOAK") else { return 1 }
    return max(1, Int(unsafe String(cString: text)) ?? 1)
  }()
}
