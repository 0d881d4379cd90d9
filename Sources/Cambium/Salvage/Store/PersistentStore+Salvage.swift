extension PersistentStore {
  /// Copies the remains of a store that cannot be opened any more into a new store. This is the last resort: back up a
  /// store that opens, and leave damaged records out with `forEach(_:skipping:_:)`.
  ///
  /// Everything is copied whose page is whole, whatever else is damaged: headers, the log, footers, branches, other records,
  /// files of blobs. Indexes, derived fields and the map of blobs are rebuilt, so that the copy is a whole store. A record whose
  /// blob is lost is copied; reading the blob throws.
  ///
  /// The damaged store is not written to. The copy is made beside `newPath`, and gets its name when all of it is on the disk.
  ///
  /// ```swift
  /// let report = try PersistentStore.salvage(at: "damaged.cambium", to: "salvaged.cambium")
  /// for loss in report.losses { print(loss) }
  /// ```
  ///
  /// - Complexity: Reads all pages once, those of damaged trees twice, and all blobs. Memory for some pages, and where leaves
  ///   are looked for to which nothing leads, for 24 bytes for each leaf and the first and last keys of those that are used.
  /// - Returns: A report of copied and missing parts.
  /// - Throws: `StoreError.nothingToSalvage` if there is nothing to copy, or nothing says what it is; `.locked` if the store
  ///   is open for writing; `.newerFormat` if a newer version of Cambium has written it; `.missing` if there is no file of a
  ///   store at `path`; `.io` if there is anything at `newPath`; `.full`, `.networkFileSystem`. Then there is nothing at
  ///   `newPath` that was not there.
  @discardableResult
  public static func salvage(
    at path: String, to newPath: String, options: SalvageOptions = SalvageOptions()
  ) throws(StoreError) -> SalvageReport {
    try SalvageRun.run(from: path, to: newPath, options)
  }
}
