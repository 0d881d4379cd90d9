internal import FoundationEssentials

extension WritingBackend {
  /// Opens the store at `path`, or puts it aside where the options say so, and makes another.
  ///
  /// - Returns: the backend, and where the store is that was there before.
  static func open(
    at path: String, _ options: StoreOptions, _ check: SchemaCheck
  ) throws(StoreError) -> (WritingBackend, setAside: String?) {
    do throws(StoreError) {
      return (try WritingBackend(at: path, options, check: check), nil)
    } catch {
      guard case .schemaMismatch(let version, _) = error, options.access == .writing,
        options.onMismatch.setsAside(version)
      else { throw error }
    }
    let other = try setAside(path, options)
    return (try WritingBackend(at: path, options, check: check), other)
  }

  private static func setAside(
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
