import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A new store on its way to its name, which another may have: it is made in a work directory beside it, and renamed when
/// all of it is there. At every moment there is the old store or the new one.
struct NewStore {
  private let path: String
  private let isThere: Bool
  private let work: WorkDirectory
  /// Where it is made.
  var temporary: String { work.content }

  /// - Parameters:
  ///   - source: The store that it is a copy of, if any, which it cannot replace.
  ///   - like: The store whose directory has the permissions that the new one gets, which is made then.
  ///   - replacing: True if a store that is there already is replaced. Other files never are.
  ///   - hint: What to say to have it otherwise.
  init(
    at path: String, of source: String? = nil, like: String? = nil, replacing: Bool,
    hint: String = "Use --force to replace it.", _ options: StoreOptions
  ) throws {
    self.path = path
    if let source, NewName.isSame(source, path) {
      throw CommandFailure(.refused, "\(path) is the store itself. Name another path for the copy.")
    }
    isThere = NewName.isTaken(path)
    if isThere {
      guard replacing else {
        throw CommandFailure(.refused, "\(path) already exists. \(hint)")
      }
      do {
        let found = try PersistentStore.inspect(at: path, lastCommits: 0, options: options)
        if found.isOpenForWriting { throw StoreError.locked(path: path, holder: nil) }
      } catch StoreError.corrupt {
        // Damage is no reason to keep one.
      }
    } else {
      try WorkDirectory.checkIsOutsideStores(path)
    }
    work = try WorkDirectory(beside: path)
    if let like = like ?? (isThere && source == nil ? path : nil) {
      try work.makeStoreDirectory(like: try DirectoryAccess(at: like))
    }
  }

  /// Makes a store by `body`, which gets the path where it is made, and gives it its name; none is left if that throws.
  ///
  /// - Parameter source: The store that is copied, which is never replaced.
  static func make<Result>(
    at path: String, of source: String? = nil, like: String? = nil, replacing: Bool,
    hint: String = "Use --force to replace it.", _ options: StoreOptions,
    _ body: (String) throws -> Result
  ) throws -> Result {
    let place = try NewStore(
      at: path, of: source, like: like, replacing: replacing, hint: hint, options)
    defer { place.abandon() }
    let result = try body(place.temporary)
    try place.finish()
    return result
  }

  /// Gives the store its name, for good.
  func finish() throws {
    if isThere {
      try PersistentStore.replace(at: path, with: temporary)
    } else {
      try work.finish()
    }
  }

  /// Removes a new store that has no name yet.
  func abandon() { work.remove() }
}
