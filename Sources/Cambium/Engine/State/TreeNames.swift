/// The names of a store's trees, each with a small number by which memory knows it.
///
/// A number is given to a name when it is first mentioned and holds until the store is closed. On the
/// medium there are names only.
final class TreeNames: @unchecked Sendable {
  /// The tree that describes what the others hold. Whatever rewrites whole trees begins with it, since the beginning of a file
  /// is what remains if the file is cut short.
  static let schemas = "schema"

  private let lock = ThreadLock()
  private var slots: [String: TreeSlot] = [:]
  private var names: [String] = []
  private var sizes = 0

  /// The number of the tree `name`, whether or not there is such a tree.
  ///
  /// - Throws: `.limitExceeded` if the name is longer than a catalog can hold.
  func slot(of name: String) throws(StoreError) -> TreeSlot {
    lock.lock()
    defer { lock.unlock() }
    if let slot = slots[name] { return slot }
    let length = name.utf8.count
    guard length <= StoreError.Limit.nameLength.bound else {
      throw .limitExceeded(.nameLength, found: length)
    }
    let slot = TreeSlot(UInt32(names.count))
    names.append(name)
    sizes += Footer.treeSize(name)
    slots[name] = slot
    return slot
  }

  /// The number of names that were mentioned, and the bytes that a catalog of all of them takes.
  var catalogOfAll: (count: Int, size: Int) {
    lock.lock()
    defer { lock.unlock() }
    return (names.count, sizes)
  }

  /// All names that were mentioned.
  var all: [String] {
    lock.lock()
    defer { lock.unlock() }
    return names
  }

  func name(of slot: TreeSlot) -> String {
    lock.lock()
    defer { lock.unlock() }
    return names[Int(slot.number)]
  }
}
