internal import FoundationEssentials

extension WritingBackend {
  /// Moves the store at `path` out of the way, under its name with the date behind it.
  ///
  /// - Returns: where it is then.
  /// - Throws: `.locked`, `.io`.
  static func setAside(
    _ path: String, _ options: StoreOptions
  ) throws(StoreError) -> String {
    let medium = try PosixFileSystem(
      at: path, allowingNetwork: options.allowsNetworkFileSystems)
    let lock = try WriterLock(in: medium)
    defer { withExtendedLifetime(lock) {} }
    let second = Date(
      timeIntervalSinceReferenceDate: Date.now.timeIntervalSinceReferenceDate.rounded(.down))
    return try medium.setAside("." + second.isoText.replacing(":", with: "-"))
  }
}
