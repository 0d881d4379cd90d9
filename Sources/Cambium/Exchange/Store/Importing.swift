// Finding or making the records of things that come from elsewhere.

extension WriteTransaction {
  /// Imports sources: finds the record of each by an identifier, and writes the result of `make`.
  ///
  /// ```swift
  /// let report = try transaction.importRecords(Item.self, from: rows, id: \.sku) { source, existing in
  ///   var item = existing ?? Item(sku: source.sku, name: source.name)
  ///   item.name = source.name
  ///   return item
  /// }
  /// print(report.inserted, report.updated, report.unchanged)
  /// ```
  ///
  /// Of sources with the same identifier, the last one is imported, in the place of the first. References may lead to
  /// records that are imported later in the same transaction.
  ///
  /// - Parameters:
  ///   - sources: Things of any type. All of them are in memory until the import ends.
  ///   - id: Returns the identifier of a source: the primary key of its record, if `uniqueID` is nil. A source without one is
  ///     skipped.
  ///   - uniqueID: The unique property that identifiers are of; nil for the primary key.
  ///   - preProcess: Called before the first record is made, with the sources by identifier. Those that it removes are
  ///     skipped; those that it adds come last, by identifier.
  ///   - make: Called with each source and its record, which is nil if there is none; returns the record to write, with the
  ///     identifier of the source, or nil to skip the source.
  /// - Returns: The numbers of records that were inserted, updated and left as they are.
  /// - Complexity: The records are looked up in batches, in the order of their keys. A record that stays as it was is not
  ///   written, and its hooks do not run; any other costs as much as `save(_:onConflict:)` without the lookup. If more than
  ///   10,000 sources follow the first thousand writes, and the type has at most eight records for each of them, the other
  ///   writes are sorted and merged into the store when the transaction commits, as those of a large transaction are.
  /// - Throws: `StoreError.invalidQuery` if `uniqueID` is not unique, or if it is nil and the primary key has several parts;
  ///   `.invalidValue` if `make` returns a record with another primary key; as `save(_:onConflict:)`; errors of `id`,
  ///   `preProcess` and `make`: then nothing is imported.
  @inlinable
  @discardableResult
  public mutating func importRecords<
    Subject: Record, Sources: Sequence, ID: FieldValueConvertible & Hashable
  >(
    _ type: Subject.Type, from sources: Sources, id: (Sources.Element) throws -> ID?,
    uniqueID: PartialKeyPath<Subject>? = nil,
    preProcess: ((inout [ID: Sources.Element]) throws -> Void)? = nil,
    _ make: (Sources.Element, Subject?) throws -> Subject?
  ) throws -> ImportReport {
    try importSources(
      type, from: sources, id: id, uniqueID: uniqueID, preProcess: preProcess, isAlone: true
    ) { _, source, existing in try make(source, existing) }
  }

  /// Imports sources with the transaction at hand, so that the contents of a source can be imported before its own
  /// record.
  ///
  /// ```swift
  /// try transaction.importRecords(Order.self, from: orders, id: \.number) { transaction, source, existing in
  ///   try transaction.importRecords(Line.self, from: source.lines, id: \.id) { line, existing in
  ///     existing ?? Line(line)
  ///   }
  ///   return Order(source)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - sources: Things of any type. All of them are in memory until the import ends.
  ///   - id: Returns the identifier of a source. A source without one is skipped.
  ///   - uniqueID: The unique property that identifiers are of; nil for the primary key.
  ///   - preProcess: Called before the first record is made, with the sources by identifier; it may remove and add some.
  ///   - make: Called with the transaction, a source and its record, which is nil if there is none; returns the record to
  ///     write, or nil to skip the source. It may change other records.
  /// - Returns: The numbers of records that were inserted, updated and left as they are, without those that `make` wrote.
  /// - Complexity: As that of the import without a transaction. After `make` has changed something, the records of some
  ///   thousand sources are looked up one by one.
  /// - Throws: as the import without a transaction: then nothing is imported, and changes by `make` are undone.
  @inlinable
  @discardableResult
  public mutating func importRecords<
    Subject: Record, Sources: Sequence, ID: FieldValueConvertible & Hashable
  >(
    _ type: Subject.Type, from sources: Sources, id: (Sources.Element) throws -> ID?,
    uniqueID: PartialKeyPath<Subject>? = nil,
    preProcess: ((inout [ID: Sources.Element]) throws -> Void)? = nil,
    _ make: (inout WriteTransaction, Sources.Element, Subject?) throws -> Subject?
  ) throws -> ImportReport {
    try importSources(
      type, from: sources, id: id, uniqueID: uniqueID, preProcess: preProcess, isAlone: false, make)
  }

  /// Imports sources.
  ///
  /// - Parameter isAlone: True if `make` does not change the transaction.
  @inlinable
  mutating func importSources<
    Subject: Record, Sources: Sequence, ID: FieldValueConvertible & Hashable
  >(
    _ type: Subject.Type, from sources: Sources, id: (Sources.Element) throws -> ID?,
    uniqueID: PartialKeyPath<Subject>?,
    preProcess: ((inout [ID: Sources.Element]) throws -> Void)?, isAlone: Bool,
    _ make: (inout WriteTransaction, Sources.Element, Subject?) throws -> Subject?
  ) throws -> ImportReport {
    let type = try entities.type(Subject.self)
    let run = try importRun(of: type, by: uniqueID)
    if isAlone { run.expectNoOthers() }
    var report = ImportReport()
    let list: [Sources.Element]
    if let preProcess {
      var choice = ImportChoice<ID, Sources.Element>()
      for source in sources { choice.add(source, try id(source)) }
      report = choice.report
      let chosen = try choice.take(preProcess, &report)
      for (id, _) in chosen { try run.append(id.fieldValue) }
      list = chosen.map { $0.1 }
    } else {
      list = try run.append(sources, &report, id)
    }
    report.duplicates += run.beginWithLast()
    return try importRecords(list, of: type, run, report, make)
  }

  @usableFromInline
  func importRun<Subject: Record>(
    of type: RecordType<Subject>, by property: PartialKeyPath<Subject>?
  ) throws(StoreError) -> ImportRun {
    try ImportRun(
      type, writer,
      by: try property.map { property throws(StoreError) in
        try type.field(of: PropertyReference(partial: property))
      })
  }

  /// Writes the records that `make` makes of the sources of a run, or none.
  @inlinable
  mutating func importRecords<Subject: Record, Source>(
    _ sources: [Source], of type: RecordType<Subject>, _ run: ImportRun, _ report: ImportReport,
    _ make: (inout WriteTransaction, Source, Subject?) throws -> Subject?
  ) throws -> ImportReport {
    let isPlain = run.isPlain(type)
    return try savepoint { transaction in
      var report = report
      let sources = sources.span
      while let number = try run.next() {
        let existing = try run.load(type)
        guard let record = try make(&transaction, sources[number], existing) else {
          report.skipped += 1
          continue
        }
        if isPlain {
          let buffers = transaction.buffers
          try type.encode(record, to: buffers.row, key: buffers.key)
          try run.write(buffers, &report)
        } else {
          try run.write(record, over: existing, of: type, in: transaction, &report)
        }
      }
      return report
    }
  }
}

extension ImportRun {
  /// Adds the identifiers of sources, and returns those that have one: an array itself if all have.
  @inlinable
  func append<Sources: Sequence, ID: FieldValueConvertible>(
    _ sources: Sources, _ report: inout ImportReport, _ id: (Sources.Element) throws -> ID?
  ) throws -> [Sources.Element] {
    let all = sources as? [Sources.Element] ?? Array(sources)
    reserve(all.count)
    // Borrowed from it, sources need not be copied.
    let elements = all.span
    var list: [Sources.Element]?
    for index in elements.indices {
      if let id = try id(elements[index]) {
        try append(id.fieldValue)
        list?.append(elements[index])
      } else {
        report.skipped += 1
        if list == nil { list = Array(all[..<index]) }
      }
    }
    return list ?? all
  }
}

/// The sources of an import by their identifiers, as a program chooses among them.
@usableFromInline
struct ImportChoice<ID: Hashable & FieldValueConvertible, Source> {
  private var sources: [ID: Source] = [:]
  /// In the order of the sources, each once.
  private var ids: [ID] = []
  @usableFromInline private(set) var report = ImportReport()

  @usableFromInline
  init() {}

  @usableFromInline
  mutating func add(_ source: Source, _ id: ID?) {
    guard let id else {
      report.skipped += 1
      return
    }
    if sources.updateValue(source, forKey: id) == nil {
      ids.append(id)
    } else {
      report.duplicates += 1
    }
  }

  /// Returns the sources that are left after `choose`, in their order, then those that it has added.
  @usableFromInline
  mutating func take(
    _ choose: (inout [ID: Source]) throws -> Void, _ report: inout ImportReport
  ) throws -> [(ID, Source)] {
    try choose(&sources)
    var chosen: [(ID, Source)] = []
    for id in ids {
      if let source = sources.removeValue(forKey: id) {
        chosen.append((id, source))
      } else {
        report.skipped += 1
      }
    }
    let added = sources.sorted { one, other in
      (one.key.fieldValue.compare(to: other.key.fieldValue) ?? 0) < 0
    }
    return chosen + added.map { ($0.key, $0.value) }
  }
}

extension PropertyReference {
  /// The property of a key path whose value has any type.
  fileprivate init<Root>(partial keyPath: PartialKeyPath<Root>) {
    let type = Swift.type(of: keyPath).valueType
    if let offset = MemoryLayout<Root>.offset(of: keyPath) {
      self.init(offset: offset, type: ObjectIdentifier(type))
    } else {
      self.init(unplaced: keyPath, of: Root.self, type: type)
    }
  }
}

// MARK: - In a transaction of its own

extension PersistentStore {
  /// Imports sources, in a transaction of its own: finds the record of each by an identifier, and writes the result
  /// of `make`.
  ///
  /// - Parameters:
  ///   - sources: Things of any type. All of them are in memory until the import ends.
  ///   - id: Returns the identifier of a source. A source without one is skipped.
  ///   - uniqueID: The unique property that identifiers are of; nil for the primary key.
  ///   - preProcess: Called before the first record is made, with the sources by identifier; it may remove and add some.
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  ///   - make: Called with each source and its record, which is nil if there is none; returns the record to write, or nil to
  ///     skip the source.
  /// - Returns: The numbers of records that were inserted, updated and left as they are.
  /// - Complexity: As that of `WriteTransaction.importRecords`, and a commit.
  /// - Throws: as `write` and `WriteTransaction.importRecords`. Then nothing is imported.
  @inlinable
  @discardableResult
  public func importRecords<
    Subject: Record, Sources: Sequence, ID: FieldValueConvertible & Hashable
  >(
    _ type: Subject.Type, from sources: Sources, id: (Sources.Element) throws -> ID?,
    uniqueID: PartialKeyPath<Subject>? = nil,
    preProcess: ((inout [ID: Sources.Element]) throws -> Void)? = nil,
    durability: Durability? = nil,
    _ make: (Sources.Element, Subject?) throws -> Subject?
  ) throws -> ImportReport {
    try write(durability: durability) { transaction in
      try transaction.importRecords(
        type, from: sources, id: id, uniqueID: uniqueID, preProcess: preProcess, make)
    }
  }
}
