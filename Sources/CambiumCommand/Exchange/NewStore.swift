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
  init(
    at path: String, replacing: Bool, hint: String = "Say --force to replace it.",
    _ options: StoreOptions
  ) throws {
    self.path = path.withoutSlashes
    temporary = NewName.temporary(for: self.path)
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

  /// Makes a store by `body`, which gets the path where it is made, and gives it its name; none is left if that throws.
  ///
  /// - Parameter source: The store that is copied, which is never replaced.
  static func make<Result>(
    at path: String, replacing: Bool, hint: String = "Say --force to replace it.",
    from source: String? = nil, _ options: StoreOptions, _ body: (String) throws -> Result
  ) throws -> Result {
    if let source { try refuse(source, as: path) }
    let place = try NewStore(at: path, replacing: replacing, hint: hint, options)
    do {
      let result = try body(place.temporary)
      try place.finish()
      return result
    } catch {
      place.abandon()
      throw error
    }
  }

  /// - Throws: if both paths lead to one directory.
  private static func refuse(_ source: String, as path: String) throws {
    var (one, other) = (stat(), stat())
    guard unsafe stat(source, &one) == 0, unsafe stat(path, &other) == 0,
      one.st_dev == other.st_dev, one.st_ino == other.st_ino
    else { return }
    throw CommandFailure(
      .refused,
      "\(path) is the store itself, which would be gone. Choose another name for the copy.")
  }

  /// Gives the store its name, for good.
  func finish() throws {
    let aside = path + ".old-\(getpid())"
    if isThere { try NewName.move(path, to: aside) }
    try NewName.move(temporary, to: path)
    try NewName.syncDirectory(of: path)
    if isThere { try PersistentStore.delete(at: aside) }
  }

  /// Takes away what was made.
  func abandon() { try? PersistentStore.delete(at: temporary) }
}

extension String {
  fileprivate var withoutSlashes: String {
    var text = self[...]
    while text.count > 1, text.last == "/" { text = text.dropLast() }
    return String(text)
  }
}
