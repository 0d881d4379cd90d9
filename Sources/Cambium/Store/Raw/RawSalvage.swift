/// The last resort for a store that does not open: see `FORMAT.md`, "Salvage".
package enum RawSalvage {
  /// What the directory of the new store is called until all of it is there.
  private static let suffix = ".salvage"

  /// Finds all footers in the page segments of the store at `path`, newest first. Nothing is written.
  ///
  /// - Parameter isComplete: True if those older than the newest whole one are checked, too.
  /// - Throws: `.missing`, `.networkFileSystem`, `.io`.
  package static func search(
    at path: String, isComplete: Bool = false
  ) throws(StoreError) -> SalvageReport {
    try Salvage.search(try PosixFileSystem(at: path), isComplete: isComplete)
  }

  /// Copies what can be read of one state of the store at `path` into a new one, with the blobs that its records have.
  /// The damaged store stays as it is.
  ///
  /// The new store is made beside `newPath`, under that name with `.salvage` behind it, and renamed when all of it is on
  /// the medium. What an interrupted salvage left there goes.
  ///
  /// - Returns: what was found, chosen and lost. Where nothing could be chosen, there is nothing at `newPath`.
  /// - Throws: `.io(.fileExists, …)` where there is anything at `newPath`; `.locked`, `.full`, `.io`, `.missing`,
  ///   `.networkFileSystem`. Then there is nothing at `newPath` that was not there.
  package static func run(
    from path: String, to newPath: String, choosing choice: SalvageChoice = .newestWhole
  ) throws(StoreError) -> SalvageReport {
    let source = try PosixFileSystem(at: path)
    try PosixFileSystem.checkIsFree(newPath, for: "salvage")
    let target = try PosixFileSystem(at: newPath.withoutTrailingSlashes + suffix, creating: true)
    try removeRest(in: target)
    do throws(StoreError) {
      let report = try copy(source, to: target, choice)
      if report.chosen == nil {
        try target.remove()
      } else {
        try target.rename(to: newPath.withoutTrailingSlashes)
      }
      return report
    } catch {
      try? target.remove()
      throw error
    }
  }

  private static func removeRest(in target: PosixFileSystem) throws(StoreError) {
    let lock = try WriterLock(in: target)
    defer { withExtendedLifetime(lock) {} }
    for name in try target.list(at: .directoryList) where name != .lock {
      try target.unlink(name, at: .orphanUnlink)
    }
  }

  private static func copy(
    _ source: PosixFileSystem, to target: PosixFileSystem, _ choice: SalvageChoice
  ) throws(StoreError) -> SalvageReport {
    var report = try Salvage.run(from: source, to: target, choosing: choice) {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
    if report.chosen == nil { return report }
    var options = StoreOptions()
    options.access = .writingExisting
    let backend = try EngineBackend(at: target.path, options)
    do throws(StoreError) {
      report.damagedBlobs = try BlobSalvage(from: source, to: target, backend).run()
    } catch {
      guard case .corrupt = error else {
        try? backend.close()
        throw error
      }
      // Nobody can say what is in its records, but they are there.
      report.faults.append(error)
    }
    try backend.close()
    return report
  }
}
