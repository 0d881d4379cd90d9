// Checks that the open files are still those in the store's directory. A deleted file can still be written and flushed, but
// nothing of that is found when the store is opened again.

extension Engine {
  /// Throws if a file of the log or of the newest trees was deleted or replaced; then nothing more is written. With the
  /// lock.
  ///
  /// - Throws: `.filesGone`.
  /// - Complexity: two system calls, of less than a microsecond each, for each file.
  func checkFiles() throws(StoreError) {
    guard let lost = lostFile() else { return }
    poison(lost)
    throw lost
  }

  /// The error for the first file whose name no longer leads to it; nil if there is none. With the lock.
  func lostFile() -> StoreError? {
    guard medium.isShared else { return nil }
    let logs = logFiles.enumerated().map { (FileName.log(UInt32($0)), $1) }
    let pages = working.base.file.pages.segments.entries.map {
      (FileName.pages($0.segment.number), $0.segment.file)
    }
    // If the look itself fails, that does not mean that the file is gone.
    let lost = (logs + pages).first { (try? $1.isNamed($0, at: .fileCompare)) == false }
    return lost.map { .filesGone(path: "\(medium.path)/\($0.0)") }
  }
}
