// Records by the references that lead to them. The other end of a reference is a query: `Inverse`.

extension RecordReading where Self: ~Copyable {
  /// Returns the record that a reference leads to; nil if there is no reference, or if it is not checked and leads
  /// nowhere.
  ///
  /// ```swift
  /// let author = try store.fetch(book.author)
  /// ```
  ///
  /// - Complexity: O(log records): a lookup.
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading.
  @inlinable
  public func fetch<Target: Record & Identifiable>(
    _ reference: Reference<Target>?
  ) throws -> Target? {
    guard let reference else { return nil }
    return try recordReader().fetch(Target.self, key: [reference.id])
  }

  /// Returns the record that a reference leads to, which has to exist.
  ///
  /// ```swift
  /// let author = try store.find(book.author)
  /// ```
  ///
  /// - Complexity: O(log records): a lookup.
  /// - Throws: `StoreError.noSuchRecord` if the reference leads nowhere; `.unknownRecord`, `.corrupt`, `.io`,
  ///   `.closed`, `.forked`; errors of the type's hook after loading.
  @inlinable
  public func find<Target: Record & Identifiable>(
    _ reference: Reference<Target>
  ) throws -> Target {
    try recordReader().find(Target.self, key: [reference.id])
  }

  /// Returns the records that references lead to, in their order; none of a list that is nil. References that lead nowhere are
  /// left out.
  ///
  /// ```swift
  /// let tags = try store.fetch(book.tags)
  /// ```
  ///
  /// - Complexity: A lookup for each, several at a time.
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`; errors of the type's hook after
  ///   loading.
  @inlinable
  public func fetch<Target: Record & Identifiable, References: Sequence>(
    _ references: References?
  ) throws -> [Target] where References.Element == Reference<Target> {
    guard let references else { return [] }
    return try recordReader().fetch(Target.self, keys: references)
  }

  /// Returns true if a reference leads to a record: always, if it is a checked one of a stored record. Cheaper than
  /// fetching it.
  ///
  /// ```swift
  /// if try !store.contains(book.author) { print("lost") }
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`, `.forked`.
  public func contains<Target: Record & Identifiable>(
    _ reference: Reference<Target>
  ) throws(StoreError) -> Bool {
    try recordReader().contains(Target.self, key: [reference.id])
  }
}
