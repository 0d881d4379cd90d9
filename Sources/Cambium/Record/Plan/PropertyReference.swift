/// A property of a record's struct, or of a composite in it, as a key path names it.
///
/// A stored property is known by where it is and by its type: two properties at one place are one within the
/// other, so their types differ, unless they take no room. That takes no lookup, and of a literal key path no
/// code at all.
@usableFromInline
struct PropertyReference: Hashable, Sendable {
  /// In bytes, from the start of the record's struct; −1 for what is not stored in place.
  @usableFromInline let offset: Int
  @usableFromInline let type: ObjectIdentifier
  /// Of what is not stored in place: its path, as far as it has names.
  @usableFromInline let path: String?

  @inlinable
  init(offset: Int, type: ObjectIdentifier) {
    self.offset = offset
    self.type = type
    path = nil
  }

  init(path: String) {
    offset = -1
    type = ObjectIdentifier(Never.self)
    self.path = path
  }

  /// - Complexity: A few nanoseconds for a stored property, microseconds for any other.
  @inlinable @inline(__always)
  init<Root, Value>(_ keyPath: KeyPath<Root, Value>) {
    if let offset = MemoryLayout<Root>.offset(of: keyPath) {
      self.init(offset: offset, type: ObjectIdentifier(Value.self))
    } else {
      self.init(unplaced: keyPath, of: Root.self, type: Value.self)
    }
  }

  /// A property behind optionals, which has a place nevertheless; one with observers, if its struct names its key
  /// path; or one of a class, or one that is computed, which has none, and is refused when the field is looked for.
  @usableFromInline
  init(unplaced keyPath: AnyKeyPath, of root: any Any.Type, type: any Any.Type) {
    let paths = PropertyPaths.of(root)
    if let path = paths.path(named: keyPath) ?? Self.text(of: keyPath, from: root) {
      self = paths.reference(to: path, as: type)
    } else {
      self.init(path: keyPath.debugDescription)
    }
  }

  /// The steps of a key path as they are printed, with dots between them and without marks of optionals; nil where
  /// it does not begin with its root. All of them, since a path that ends with the name of a field may lead to quite
  /// another property. A step that is reached by a function is printed with the function's address.
  static func text(of keyPath: AnyKeyPath, from root: any Any.Type) -> String? {
    let text = keyPath.debugDescription
    let prefix = "\\\(String(describing: root))"
    guard text.utf8.starts(with: prefix.utf8) else { return nil }
    // `.address?.street`
    return String(
      String(decoding: text.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        .filter { $0 != "?" && $0 != "!" }.dropFirst())
  }
}
