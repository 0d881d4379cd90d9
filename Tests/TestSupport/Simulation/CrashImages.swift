import Cambium

/// The latest crash images of a run. Policies often leave the same bytes, as `.prefix(0)` and `.none` do, and so do calls that
/// only read; whatever opens the same bytes gives the same answer, so one of those images is enough.
package struct CrashImages {
  /// More would take longer to compare than to open.
  private static let limit = 48
  private var seen: [(remains: [FileName: SparseBytes], isClean: Bool)] = []
  private var expected: [Int] = []

  package init() {}

  /// Adds an image that nothing has been done to yet.
  ///
  /// - Parameters:
  ///   - expected: Numbers that are the same as long as the same is expected of images.
  ///   - isClean: True if more is expected of this one.
  /// - Returns: False if there is the same already, of which as much was expected.
  package mutating func insert(
    _ image: SimulatedFileSystem, expected: [Int] = [], isClean: Bool = false
  ) -> Bool {
    if expected != self.expected {
      self.expected = expected
      seen = []
    }
    let remains = image.remains
    if seen.contains(where: { ($0.isClean || !isClean) && $0.remains == remains }) { return false }
    if seen.count == Self.limit { seen.removeFirst() }
    seen.append((remains, isClean))
    return true
  }
}

extension SimulatedFileSystem {
  /// The files by their names, as programs see them.
  fileprivate var remains: [FileName: SparseBytes] {
    guardian.lock()
    defer { guardian.unlock() }
    return directory.live.compactMapValues { contents[$0]?.live }
  }
}
