extension Condition {
  /// Returns the condition that a record is of a kind, or of a kind of that.
  ///
  /// ```swift
  /// try store.count(Trip.where { .is(BusinessTrip.self) && $0.start > now })
  /// ```
  ///
  /// - Parameter kind: A type with the subject as its parent, or its parent's parent. The subject itself stands for all
  ///   kinds. With another type, a query throws `StoreError.invalidQuery`.
  public static func `is`<Kind: Record>(_ kind: Kind.Type) -> Condition {
    Condition(term: .kind(PropertyReference(kind: kind), isExact: false))
  }

  /// Returns the condition that a record is of a kind, and of no kind of that; of the subject itself, that it is of no kind.
  ///
  /// - Parameter kind: As for `is(_:)`.
  public static func isExactly<Kind: Record>(_ kind: Kind.Type) -> Condition {
    Condition(term: .kind(PropertyReference(kind: kind), isExact: true))
  }
}

extension PropertyReference {
  /// The name of a type that is a kind, which is found when the condition is checked.
  fileprivate init(kind: any Record.Type) { self.init(path: String(describing: kind)) }
}
