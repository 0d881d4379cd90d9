/// A relation whose records are fetched together with those of a query, in one more pass over them.
///
/// ```swift
/// for (book, author, tags) in try store.fetch(page, including: .one(\.author), .all(\.tags)) { … }
/// for (author, books) in try store.fetch(
///   Author.sorted(by: .ascending(\.name)),
///   including: .all(Author.books, sortedBy: .descending(\.year), limit: 3)) { … }
/// ```
///
/// All records are of one state of the store. Each related record is looked up and decoded once, however many records lead
/// to it. So fetching authors with their books takes two passes, whether there are two authors or a million; on a server, a
/// statement for each. Idea: `including(all:)` of GRDB.
public struct Inclusion<Subject: Record, Result>: Sendable {
  /// Returns the result of each of some records, in their order.
  @usableFromInline let load: @Sendable (InclusionReader, [Subject]) throws -> [Result]
  /// The types of the records that are included.
  @usableFromInline let types: [any Record.Type]

  /// - Parameter nested: The types of records that are included with those.
  @usableFromInline
  init(
    of type: any Record.Type, _ nested: [any Record.Type],
    load: @escaping @Sendable (InclusionReader, [Subject]) throws -> [Result]
  ) {
    self.load = load
    types = [type] + nested
  }
}

/// A reader of the records that are included.
@usableFromInline
package struct InclusionReader {
  @usableFromInline let source: Source
  /// The marks of the rows that are read; nil without an observer.
  @usableFromInline var marks: RowMarks?

  @usableFromInline
  enum Source {
    case store(RecordReader)
    case other(any RelatedSource)
  }

  @usableFromInline
  init(_ records: RecordReader, _ marks: RowMarks? = nil) {
    source = .store(records)
    self.marks = marks
  }

  /// Creates a reader of records that are not in a `PersistentStore`.
  package init(_ other: any RelatedSource) { source = .other(other) }
}

/// A state of records that are not in a `PersistentStore`.
@usableFromInline
package protocol RelatedSource {
  /// Returns the records with some primary keys, each once and by primary key, and by the place of a key that of its record;
  /// nil if there is none.
  func records<Target: Record>(
    _ type: Target.Type, withKeys keys: [FieldValue]
  ) throws -> (records: [Target], places: [Int?])

  /// Returns the records of a query at the other end of a reference, and by the place of an owner those of its records, in the
  /// order and within the limit of the query.
  func records<Owner: Record, Related: Record>(
    at inverse: Inverse<Owner, Related>, _ query: Query<Related>, of owners: [FieldValue]
  ) throws -> (records: [Related], places: [[Int]])
}

// MARK: - The record that a reference leads to

extension Inclusion {
  /// Includes the record that a reference leads to; nil if there is no reference, or if it is not checked and leads nowhere.
  ///
  /// - Parameters:
  ///   - reference: The key path of the property, optional or not.
  ///   - nested: Relations of that record, fetched with it: `.one(\.author, including: .one(\.country))` gives
  ///     `(Author, Country?)?`.
  /// - Complexity: One pass over the records that the references lead to, by primary key.
  @inlinable
  public static func one<Target: Record, each Nested>(
    _ reference: @escaping @Sendable (Subject) -> Reference<Target>?,
    including nested: repeat Inclusion<Target, each Nested>
  ) -> Inclusion where Result == (Target, repeat each Nested)? {
    Inclusion(of: Target.self, includedTypes(repeat each nested)) { reader, subjects in
      let lists = try reader.lists(
        of: subjects, { CollectionOfOne(reference($0)) }, including: repeat each nested)
      // A key path of a list of packs would abort the program.
      return lists.map { $0.first }
    }
  }

  /// Includes the record whose primary key a property is: `.one(\.author, of: Author.self)`, where `author` is a `UUID`.
  ///
  /// - Parameters:
  ///   - key: The key path of the property, optional or not.
  ///   - nested: Relations of that record, fetched with it.
  /// - Complexity: One pass over the records with these primary keys.
  @inlinable
  public static func one<Target: Record & Identifiable, each Nested>(
    _ key: @escaping @Sendable (Subject) -> Target.ID?, of target: Target.Type,
    including nested: repeat Inclusion<Target, each Nested>
  ) -> Inclusion where Result == (Target, repeat each Nested)?, Target.ID: RecordKey {
    one({ subject in key(subject).map { Reference<Target>($0) } }, including: repeat each nested)
  }
}

// MARK: - The records that a list of references leads to

extension Inclusion {
  /// Includes the records that a list of references leads to, in its order; those of a set by primary key. References that
  /// lead nowhere, which are not checked, are left out.
  ///
  /// - Parameters:
  ///   - references: The key path of the property, optional or not.
  ///   - nested: Relations of those records, fetched with them: then each result is a list of tuples.
  /// - Complexity: One pass over the records that the references lead to, by primary key.
  @inlinable
  public static func all<Target: Record, References: Sequence & SendableMetatype, each Nested>(
    _ references: @escaping @Sendable (Subject) -> References?,
    including nested: repeat Inclusion<Target, each Nested>
  ) -> Inclusion
  where Result == [(Target, repeat each Nested)], References.Element == Reference<Target> {
    Inclusion(of: Target.self, includedTypes(repeat each nested)) { reader, subjects in
      try reader.lists(
        of: subjects, { subject in references(subject)?.lazy.map { Optional($0) } },
        areSorted: References.self == Set<Reference<Target>>.self,
        including: repeat each nested)
    }
  }

  /// Includes the records whose primary keys a list has: `.all(\.tags, of: Tag.self)`, where `tags` are strings.
  ///
  /// - Parameters:
  ///   - keys: The key path of the property.
  ///   - nested: Relations of those records, fetched with them.
  /// - Complexity: One pass over the records with these primary keys.
  @inlinable
  public static func all<
    Target: Record & Identifiable, Keys: Sequence & SendableMetatype, each Nested
  >(
    _ keys: @escaping @Sendable (Subject) -> Keys, of target: Target.Type,
    including nested: repeat Inclusion<Target, each Nested>
  ) -> Inclusion
  where
    Result == [(Target, repeat each Nested)], Keys.Element == Target.ID, Target.ID: RecordKey
  {
    Inclusion(of: Target.self, includedTypes(repeat each nested)) { reader, subjects in
      try reader.lists(
        of: subjects, { subject in keys(subject).lazy.map { Optional(Reference<Target>($0)) } },
        areSorted: Keys.self == Set<Target.ID>.self, including: repeat each nested)
    }
  }
}

// MARK: - The records that lead to one

extension Inclusion {
  /// Includes the records at the other end of a reference: those that lead to each record.
  ///
  /// - Parameters:
  ///   - condition: A condition that the included records meet.
  ///   - order: The properties by which the included records of each record are sorted; by primary key if there are none.
  ///   - limit: The highest number of included records of each record; nil for all.
  ///   - nested: Relations of the included records, fetched with them: then each result is a tuple. A link record leads on
  ///     to the other record: `.all(Group.memberships, including: .one(\.person))`.
  /// - Complexity: One pass over the reference's index, from the first of the records to the last, and one over the rows
  ///   that it leads to. With a limit, if the index has the included records in their order and there is no condition, only
  ///   the first entries of each record are read, and only their rows. Without an index, as of a reference that is not
  ///   checked, one pass over all rows of the related type.
  @inlinable
  public static func all<Related: Record, each Nested>(
    _ inverse: Inverse<Subject, Related>, where condition: Condition<Related> = .always,
    sortedBy order: Query<Related>.Order..., limit: Int? = nil,
    including nested: repeat Inclusion<Related, each Nested>
  ) -> Inclusion where Result == [(Related, repeat each Nested)] {
    var query = Query(where: condition, limit: limit)
    query.order = order
    return Inclusion(of: Related.self, includedTypes(repeat each nested)) {
      [query] reader, subjects in
      guard case .store(let store) = reader.source else {
        return try reader.otherRelated(inverse, query, of: subjects, repeat each nested)
      }
      let related = try store.relatedRows(at: inverse, query)
      for subject in subjects { try related.append(subject.id.fieldValue) }
      let rows = try related.find()
      let records = try rows.load(
        try store.entities.type(Related.self), marked: reader.marks != nil)
      related.divide(rows)
      let results = try reader.including(records, repeat each nested)
      let places = subjects.indices.map { related.places($0) }
      reader.marks?.divide(rows, among: places)
      return places.map { list in list.map { results[$0] } }
    }
  }
}

/// Returns the types of the records that inclusions include.
@inlinable
func includedTypes<Subject: Record, each Result>(
  _ inclusion: repeat Inclusion<Subject, each Result>
) -> [any Record.Type] {
  var types: [any Record.Type] = []
  for inclusion in repeat each inclusion { types += inclusion.types }
  return types
}

extension InclusionReader {
  /// Returns records with the results of inclusions.
  @inlinable
  package func including<Subject: Record, each Result>(
    _ records: [Subject], _ inclusion: repeat Inclusion<Subject, each Result>
  ) throws -> [(Subject, repeat each Result)] {
    marks?.begin(records.count)
    let results = (repeat try load(each inclusion, records))
    marks?.end()
    return records.indices.map { index in (records[index], repeat (each results)[index]) }
  }

  @inlinable
  func load<Subject: Record, Result>(
    _ inclusion: Inclusion<Subject, Result>, _ records: [Subject]
  ) throws -> [Result] {
    let results = try inclusion.load(self, records)
    marks?.addLast()
    return results
  }

  /// Returns the records that lists of references lead to.
  ///
  /// - Parameters:
  ///   - references: Returns the references of a record, if there are any; nil leads nowhere.
  ///   - areSorted: True if the records of a list are to be sorted by primary key.
  @inlinable
  func lists<Subject: Record, Target: Record, References: Sequence, each Nested>(
    of subjects: [Subject], _ references: (Subject) -> References?, areSorted: Bool = false,
    including nested: repeat Inclusion<Target, each Nested>
  ) throws -> [[(Target, repeat each Nested)]] where References.Element == Reference<Target>? {
    guard case .store(let store) = source else {
      return try otherLists(of: subjects, references, areSorted, repeat each nested)
    }
    let type = try store.entities.type(Target.self)
    let shared = SharedRows(of: type, in: store)
    var ends: [Int] = []
    ends.reserveCapacity(subjects.count)
    var count = 0
    for subject in subjects {
      if let list = references(subject) {
        for case let reference? in list {
          try shared.append(reference.id.fieldValue)
          count += 1
        }
      }
      ends.append(count)
    }
    let rows = shared.find()
    let found = try rows.load(type, marked: marks != nil)
    let results = try including(found, repeat each nested)
    var start = 0
    let places = ends.map { end in
      var places = (start..<end).compactMap { shared.place($0) }
      start = end
      if areSorted { places.sort() }
      return places
    }
    marks?.divide(rows, among: places)
    return places.map { list in list.map { results[$0] } }
  }
}

// MARK: Of other stores

extension InclusionReader {
  /// Returns the records that lists of references lead to, of a source that is no `PersistentStore`.
  @usableFromInline
  func otherLists<Subject: Record, Target: Record, References: Sequence, each Nested>(
    of subjects: [Subject], _ references: (Subject) -> References?, _ areSorted: Bool,
    _ nested: repeat Inclusion<Target, each Nested>
  ) throws -> [[(Target, repeat each Nested)]] where References.Element == Reference<Target>? {
    guard case .other(let other) = source else { return [] }
    var keys: [FieldValue] = []
    let ends = subjects.map { subject in
      if let list = references(subject) {
        for case let reference? in list { keys.append(reference.id.fieldValue) }
      }
      return keys.count
    }
    let (records, places) = try other.records(Target.self, withKeys: keys)
    let results = try including(records, repeat each nested)
    var start = 0
    return ends.map { end in
      var list = places[start..<end].compactMap { $0 }
      start = end
      if areSorted { list.sort() }
      return list.map { results[$0] }
    }
  }

  /// Returns the records at the other end of a reference, of a source that is no `PersistentStore`.
  @usableFromInline
  func otherRelated<Owner: Record & Identifiable, Related: Record, each Nested>(
    _ inverse: Inverse<Owner, Related>, _ query: Query<Related>, of owners: [Owner],
    _ nested: repeat Inclusion<Related, each Nested>
  ) throws -> [[(Related, repeat each Nested)]] where Owner.ID: RecordKey {
    guard case .other(let other) = source else { return [] }
    let (records, places) = try other.records(
      at: inverse, query, of: owners.map { $0.id.fieldValue })
    let results = try including(records, repeat each nested)
    return places.map { list in list.map { results[$0] } }
  }
}

// MARK: - Fetching

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query, each with related records.
  ///
  /// ```swift
  /// let page = Book.sorted(by: .ascending(\.title)).limit(50)
  /// for (book, author, tags) in try store.fetch(page, including: .one(\.author), .all(\.tags)) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - record: The last record of the page before; only records after it are returned.
  ///   - first: A relation of the records.
  ///   - others: Further relations.
  /// - Complexity: That of the query, and a pass for each inclusion: see ``Inclusion``. All records are in memory.
  /// - Throws: As `fetch(_:after:)`, for the query and for the related records.
  @inlinable
  public func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, after record: Subject? = nil,
    including first: Inclusion<Subject, First>, _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)] {
    let reader = try recordReader()
    let cursor = try reader.cursor(query, after: record)
    var records: [Subject] = []
    while let record = try cursor.next() { records.append(record) }
    return try InclusionReader(reader).including(records, first, repeat each others)
  }

  /// Returns records that were fetched before, each with related records as they are now.
  ///
  /// - Throws: as `fetch(_:after:including:_:)`.
  @inlinable
  public func fetch<Subject: Record, First, each Other>(
    _ records: [Subject], including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)] {
    try InclusionReader(recordReader()).including(records, first, repeat each others)
  }
}
