/// The last resort for a store that does not open: see `FORMAT.md`, "Salvage".
@_spi(Raw) public enum RawSalvage {
  /// Finds all footers in the page segments of the store at `path`, newest first. Nothing is written.
  ///
  /// - Parameter isComplete: Whether those older than the newest whole one are checked, too.
  /// - Throws: `.missing`, `.networkFileSystem`, `.io`.
  public static func search(
    at path: String, isComplete: Bool = false
  ) throws(StoreError) -> SalvageReport {
    try Salvage.search(try PosixFileSystem(at: path), isComplete: isComplete)
  }

  /// Copies what can be read of one state of the store at `path` into a new one, in an empty directory or
  /// one that it makes. The damaged store stays as it is.
  ///
  /// - Throws: `.locked`, `.full`, `.io`, `.missing`, `.networkFileSystem`.
  public static func run(
    from path: String, to newPath: String, choosing choice: SalvageChoice = .newestWhole
  ) throws(StoreError) -> SalvageReport {
    let medium = try PosixFileSystem(at: path)
    let other = try PosixFileSystem(at: newPath, creating: true)
    return try Salvage.run(from: medium, to: other, choosing: choice) {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
  }
}
