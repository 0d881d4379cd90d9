import Cambium
import Glibc

/// The way of a new store to its name, which another may have: it is made beside it, and renamed when all of it is
/// there. At every moment there is the old store or the new one.
struct NewStore {
  private let path: String
  private let isThere: Bool
  /// Where it is made.
  let temporary: String

  /// - Parameters:
  ///   - replacing: Whether a store that is there already is replaced. What is no store is never.
  ///   - hint: What to say to have it otherwise.
  init(at path: String, replacing: Bool, hint: String, _ options: StoreOptions) throws {
    self.path = path.withoutSlashes
    temporary = self.path + ".new-\(getpid())"
    isThere = unsafe access(self.path, F_OK) == 0
    guard isThere else { return }
    guard replacing else {
      throw CommandFailure(.refused, "\(path) is there already. \(hint)")
    }
    do {
      let found = try PersistentStore.inspect(at: path, lastCommits: 0, options: options)
      if found.isOpenForWriting { throw StoreError.locked(path: path, holder: nil) }
    } catch StoreError.corrupt {
      // Damage is no reason to keep one.
    }
  }

  /// Gives the store its name, for good.
  func finish() throws {
    let aside = path + ".old-\(getpid())"
    if isThere { try Self.move(path, to: aside) }
    try Self.move(temporary, to: path)
    try syncDirectory()
    if isThere { try PersistentStore.delete(at: aside) }
  }

  /// Takes away what was made.
  func abandon() { try? PersistentStore.delete(at: temporary) }

  private static func move(_ path: String, to other: String) throws {
    guard unsafe rename(path, other) == 0 else {
      throw OutputFailure(message: "\(path) cannot be renamed: \(Errno(rawValue: errno)).")
    }
  }

  /// The new name has to survive a power cut.
  private func syncDirectory() throws {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw OutputFailure(message: "\(parent) cannot be flushed: \(Errno(rawValue: errno)).")
    }
  }
}

extension String {
  fileprivate var withoutSlashes: String {
    var text = self[...]
    while text.count > 1, text.last == "/" { text = text.dropLast() }
    return String(text)
  }
}
