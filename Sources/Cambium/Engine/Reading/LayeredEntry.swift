/// A key's entry, in an overlay or in a leaf. Of use as long as the tree it was found in.
struct LayeredEntry: ~Escapable {
  private enum Place {
    case overlay(EntryReference)
    case leaf(LeafEntry)
  }

  private let place: Place

  @_lifetime(borrow owner)
  @inline(__always)
  init<Owner: ~Copyable>(_ reference: EntryReference, of owner: borrowing Owner) {
    place = .overlay(reference)
  }

  @_lifetime(borrow owner)
  @inline(__always)
  init<Owner: ~Copyable>(_ entry: LeafEntry, of owner: borrowing Owner) {
    place = .leaf(entry)
  }

  /// The value, or the reference to its pages if it is external.
  var storedValue: RawSpan {
    @_lifetime(copy self)
    @inline(__always)
    get {
      switch place {
      case .overlay(let reference): unsafe _overrideLifetime(reference.value, copying: self)
      case .leaf(let entry): unsafe _overrideLifetime(entry.storedValue, copying: self)
      }
    }
  }

  /// Whether the value has pages of its own. In an overlay none has.
  var isExternal: Bool {
    switch place {
    case .overlay: false
    case .leaf(let entry): entry.isExternal
    }
  }

  var schemaVersion: UInt32 {
    switch place {
    case .overlay(let reference): reference.schemaVersion
    case .leaf(let entry): entry.schemaVersion
    }
  }
}
