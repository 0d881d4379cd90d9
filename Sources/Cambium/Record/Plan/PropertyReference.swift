/// A property of a record's struct, or of a composite in it, as a key path names it.
///
/// A stored property is known by where it is and by its type: two properties at one place are one within the
/// other, so their types differ. That takes no lookup, and of a literal key path no code at all.
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
      self.init(unplaced: keyPath, of: Root.self, type: ObjectIdentifier(Value.self))
    }
  }

  /// A property behind optionals, of a class, or one that is computed.
  @usableFromInline
  init(unplaced keyPath: AnyKeyPath, of root: any Any.Type, type: ObjectIdentifier) {
    // `\Person.address?.street`, in which the type's name may have dots too.
    let names = keyPath.debugDescription.dropFirst().filter { $0 != "?" && $0 != "!" }
      .split(separator: ".")
    let paths = PropertyPaths.of(root)
    for start in 1..<max(names.count, 1) {
      if let reference = paths.reference(to: names[start...].joined(separator: ".")) {
        self = reference
        return
      }
    }
    self = PropertyReference(path: names.dropFirst().joined(separator: "."))
  }
}
