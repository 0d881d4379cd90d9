// What is done to a store in a directory as a whole.

extension PersistentStore {
  /// Deletes the store in the directory at `path`, and the directory. After a crash, either the whole store is left,
  /// or nothing that opens.
  ///
  /// - Throws: `StoreError.locked` if it is open for writing; `.missing` if there is no directory, or no store in it; `.io`,
  ///   also if other files are in the directory: then nothing has changed.
  public static func delete(at path: String) throws(StoreError) {
    let medium = try PosixFileSystem(at: path, allowingNetwork: true)
    // Before a lock is taken, which makes a file.
    let files = try medium.removableFiles()
    if !files.contains(where: { $0 != .lock }) { throw .missing(path: path) }
    let lock = try WriterLock(in: medium)
    defer { withExtendedLifetime(lock) {} }
    try medium.remove()
  }
}
