// Whether the files are still those in the store's directory. They can be written and flushed long after somebody deleted
// them, and then nothing of it is found again.

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

  /// The error for the first file that its name does not lead to any more; nil if there is none. With the lock.
  func lostFile() -> StoreError? {
    guard medium.isShared else { return nil }
    let logs = zip(LogLayout.fileNumbers, log.files).map { (FileName.log($0), $1) }
    let pages = working.base.file.pages.segments.entries.map {
      (FileName.pages($0.segment.number), $0.segment.file)
    }
    // A failure to look says nothing of the file.
    let lost = (logs + pages).first { (try? $1.isNamed($0, at: .fileCompare)) == false }
    return lost.map { .filesGone(path: "\(medium.path)/\($0.0)") }
  }
}
