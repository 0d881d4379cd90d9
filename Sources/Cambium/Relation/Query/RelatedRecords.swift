extension Inverse {
  /// Returns the query of the records that lead to one.
  ///
  /// ```swift
  /// let books = try store.fetch(Author.books(of: author))
  /// let count = try store.count(Author.books(of: author).where { $0.year > 1990 })
  /// try store.delete(Author.books(of: author))
  /// ```
  ///
  /// It is a query as any other: sort it, limit it, observe it, explain it.
  ///
  /// - Complexity: One range of the reference's index, or of the primary key if that begins with the reference. A count is
  ///   O(log records).
  public func callAsFunction(of owner: Owner) -> Query<Related> {
    callAsFunction(of: Reference(to: owner))
  }

  /// Returns the query of the records that lead to the one that a reference leads to, too.
  ///
  /// ```swift
  /// let others = try store.fetch(Author.books(of: book.author))
  /// ```
  public func callAsFunction(of owner: Reference<Owner>) -> Query<Related> {
    let value = owner.fieldValue
    return Query(
      where: Condition(
        term: isList
          ? .contains(field: property, value) : .comparison(field: property, .equal, value)))
  }

  /// The property that is the reference.
  var property: PropertyReference {
    switch place {
    case .property(let property): property
    case .field(let name): PropertyReference(field: name)
    }
  }
}
