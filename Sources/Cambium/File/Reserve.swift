/// A file that holds space for when the disk is full, and nothing else.
///
/// A fold writes pages before it gives any back, and a transaction that deletes records needs space in the log. On a disk
/// without any, nothing could be deleted. So a store that is open for writing has a file `RESERVE`, and empties it
/// when the disk is full and space is to be made:
///
///     held ──release, on ENOSPC──▶ released ──hold, after the next fold──▶ held
///
/// - It is lent to folds and transactions that remove more entries than they add, and to compactions. Adding records is
///   refused while it is still there. After releasing it, the caller repeats the write that failed.
/// - A fold that fails even then has deleted the pages that it wrote, and takes the reserve again: an attempt that
///   needs more than there is does not use it up.
/// - A log that must grow for a transaction first has the overlay before folded, and then takes no more than it needs;
///   the rest is held again at once. The other file of the log may have to follow when the store is opened.
/// - Closing writes nothing new: commits are in the log, whose files are never sparse where frames go. On file systems that need space to
///   overwrite a block, it is lent to every write of the log.
/// - It is as large as the pages of the store, since a fold of few changes writes at most that, but at least 64 KiB
///   and at most 1 MiB or a 64th of the volume. On volumes of less than 1 MiB there is none, nor where the size
///   of the volume is not known.
/// - The file is allocated, not sparse. Its content means nothing; it is no part of a copy, and a reader never opens it.
///   A store works without it, and failing to make it is no error.
///
/// The file stays when the store is closed, so that it can be opened again on a full disk.
///
/// Thread-safe.
final class Reserve: @unchecked Sendable {
  private let medium: any FileSystem
  /// The size that the file has at most; there is none if that is less than the smallest.
  private let sizeMax: Int
  private let guardian = ThreadLock()

  // Under `guardian`:
  private var wanted = 0
  /// The bytes of the file that are known to be allocated.
  private var held = 0

  init(in medium: any FileSystem, atMost sizeMax: Int) {
    self.medium = medium
    self.sizeMax = sizeMax
  }

  /// A segment's header, a footer twice, and a page.
  private static var sizeMin: Int { 16 << 10 }
  /// The size for a store that has hardly any pages.
  private static var firstSize: Int { 64 << 10 }

  /// The size for a volume of `size` bytes.
  static func sizeMax(onVolume size: Int) -> Int { min(1 << 20, size / 64) }
}

extension Reserve {
  /// Takes space for a store with pages of `size` bytes, or as much as there is. A reserve that is large enough stays as it is.
  func hold(for size: Int) {
    guard sizeMax >= Self.sizeMin else { return }
    guardian.lock()
    defer { guardian.unlock() }
    while max(wanted, Self.firstSize) < size, wanted < sizeMax {
      wanted = 2 * max(wanted, Self.firstSize)
    }
    wanted = min(max(wanted, Self.firstSize), sizeMax)
    take()
  }

  /// Takes the space again that was released, if there is any.
  func hold() {
    guardian.lock()
    defer { guardian.unlock() }
    take()
  }

  /// Gives the space back to the disk.
  ///
  /// - Returns: false if there was none to give.
  func release() -> Bool {
    guardian.lock()
    defer { guardian.unlock() }
    if held == 0 { return false }
    held = 0
    if let file = try? medium.open(.reserve, .readWrite, at: .reserveOpen),
      (try? file.truncate(to: 0, at: .reserveTruncate)) != nil
    {
      return true
    }
    return (try? medium.unlink(.reserve, at: .reserveUnlink)) != nil
  }

  /// Runs `body`, and once more if it finds the disk full and the reserve gives it space.
  ///
  /// - Throws: errors of `body`.
  func lending(to body: () throws(StoreError) -> Void) throws(StoreError) {
    do throws(StoreError) {
      try body()
    } catch {
      guard case .full = error, release() else { throw error }
      try body()
    }
  }

  /// With `guardian`.
  private func take() {
    guard held < wanted, let file = try? openOrCreate() else { return }
    // All of it, also blocks that the file has: in a copy they may be sparse.
    var size = wanted
    while size >= max(held + 1, Self.sizeMin) {
      if (try? file.allocate(size, at: .reserveWrite)) != nil {
        held = size
      } else {
        try? file.cut(to: held, at: .reserveTruncate)
        size /= 2
      }
    }
    // It may have been larger.
    try? file.truncate(to: held, at: .reserveTruncate)
  }

  /// A file that another name leads to as well is replaced: to empty it would give nothing back.
  private func openOrCreate() throws(StoreError) -> any File {
    do throws(StoreError) {
      return try medium.open(.reserve, .readWrite, at: .reserveOpen)
    } catch {
      switch error {
      case .missing: break
      case .io(.tooManyLinks, _, _), .io(.tooManySymbolicLinks, _, _):
        try medium.unlink(.reserve, at: .reserveUnlink)
      default: throw error
      }
    }
    return try medium.open(.reserve, .create, at: .reserveOpen)
  }
}
