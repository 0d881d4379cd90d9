import Cambium

/// A copy of the records of a store that can be read, in a new one of the same schema.
struct ReadableCopy {
  private(set) var count = 0

  /// - Parameter leftOut: Notes the records that are not copied.
  /// - Throws: errors of reading past a damaged record, and of making the new store.
  init(
    of snapshot: StoreSnapshot, to path: String, _ options: StoreOptions,
    leavingOut leftOut: LeftOutRecords, _ bar: ProgressBar
  ) throws {
    var options = options
    options.access = .writing
    let model = try StoreModel(SchemaLock([snapshot.schema]))
    let store = try PersistentStore(at: path, model: model, options: options)
    var (count, total) = (0, 0)
    for type in snapshot.schema.records { total += try snapshot.count(record: type.name) }
    do {
      try store.write { transaction in
        // Before the records, since a sequence without gaps refuses greater numbers than the next one.
        try transaction.continueSequences(of: snapshot)
        for type in snapshot.schema.records {
          let shape = RecordShape(type)
          try snapshot.forEach(
            record: type.name, stringsAsBlobs: true, skipping: { leftOut.add($0) }
          ) { record in
            try Interruption.check("The backup was interrupted. No copy was made.")
            do {
              try transaction.savepoint { try $0.save(record) }
            } catch let error as StoreError where error.isOfOneRecord {
              leftOut.add(record, of: shape, error)
              return
            }
            count += 1
            bar.show(Double(count) / Double(max(1, total)), "\(Figures.count(count)) records")
          }
        }
        try snapshot.forEachMetadata { name, error in
          leftOut.add(valueUnder: name, error)
        } _: { name, value in
          try transaction.setMetadata(value, for: name)
        }
        for record in try transaction.acceptMissing() { leftOut.add(record) }
      }
      try store.close()
    } catch {
      try? store.close()
      throw error
    }
    self.count = count
  }
}

extension StoreError {
  /// True if the next record may be copied all the same.
  var isOfOneRecord: Bool {
    switch self {
    case .corrupt, .unreadableRecord, .invalidValue, .uniqueConflict, .relationCount, .missing,
      .limitExceeded:
      true
    default: false
    }
  }
}

extension DynamicRecord {
  /// Reads all blobs of the record, so that one that is damaged is noticed before anything of the record is written.
  func checkBlobs() throws {
    for (_, value) in fields { try value.checkBlobs() }
  }
}

extension FieldValue {
  fileprivate func checkBlobs() throws {
    switch self {
    case .blob(let blob):
      let reader = try blob.reader()
      while try reader.read(upTo: 1 << 18) != nil {}
    case .composite(let parts): for part in parts.values { try part.checkBlobs() }
    default: break
    }
  }
}
