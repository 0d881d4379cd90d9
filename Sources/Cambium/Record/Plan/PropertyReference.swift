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
    // Behind the type's name: `address?.street`.
    let text = keyPath.debugDescription
    let start = "\\" + String(describing: root) + "."
    let path = text.hasPrefix(start) ? String(text.dropFirst(start.count)) : text
    let names = path.filter { $0 != "?" && $0 != "!" }
    self = PropertyPaths.of(root).reference(to: names) ?? PropertyReference(path: names)
  }
}
