import Cambium

/// A copy of the records of a store that can be read, in a new one of the same schema.
struct ReadableCopy {
  private(set) var count = 0
  private(set) var skippedCount = 0

  /// - Throws: errors of reading past a damaged record, and of making the new store.
  init(of snapshot: StoreSnapshot, to path: String, _ options: StoreOptions, _ bar: ProgressBar)
    throws
  {
    var options = options
    options.access = .writing
    let model = try StoreModel(SchemaLock([snapshot.schema]))
    let store = try PersistentStore(at: path, model: model, options: options)
    var (count, skippedCount, total) = (0, 0, 0)
    for type in snapshot.schema.records { total += try snapshot.count(record: type.name) }
    do {
      try store.write { transaction in
        for type in snapshot.schema.records {
          try snapshot.forEach(
            record: type.name, stringsAsBlobs: true,
            skipping: { skipped in
              StandardError.line("cambium: left out \(skipped)")
              skippedCount += 1
            }
          ) { record in
            try Interruption.check("The backup was interrupted. No copy was made.")
            do {
              try transaction.savepoint { try $0.save(record) }
            } catch let error as StoreError where error.isOfOneRecord {
              StandardError.write("cambium: left out a record of \(type.name): \(error)\n")
              skippedCount += 1
              return
            }
            count += 1
            bar.show(Double(count) / Double(max(1, total)), "\(Figures.count(count)) records")
          }
        }
        try snapshot.forEachMetadata { name, error in
          StandardError.write("cambium: left out the value under \(name): \(error)\n")
          skippedCount += 1
        } _: { name, value in
          try transaction.setMetadata(value, for: name)
        }
        for record in try transaction.acceptMissing() {
          StandardError.write("cambium: \(record)\n")
        }
      }
      try store.close()
    } catch {
      try? store.close()
      throw error
    }
    self.count = count
    self.skippedCount = skippedCount
  }

  /// Throws if records were left out.
  func checkWhole() throws { try Self.check(skippedCount) }

  /// Throws if `count` records were left out.
  static func check(_ count: Int) throws {
    if count == 0 { return }
    throw CommandFailure(
      .fault,
      "\(Figures.count(count, "record")) could not be read and \(count == 1 ? "was" : "were") left out."
    )
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
