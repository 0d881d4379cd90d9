package import Cambium
import FoundationEssentials

/// The values of a store that do not go over exactly, counted.
package struct ValueScan: Sendable, Encodable {
  /// The commit whose state was read.
  package let sequence: UInt64
  package private(set) var recordCount = 0
  /// In the order of records and fields.
  package private(set) var findings: [Finding] = []

  /// Values of one field with the same loss.
  package struct Finding: Sendable, Hashable, Encodable {
    package let record: String
    /// Nil if the record is meant.
    package let field: String?
    package let loss: ValueLoss
    /// True if the records cannot be moved.
    package let isFatal: Bool
    package let reason: String
    /// The number of records.
    package internal(set) var count: Int
    /// The key of the first one.
    package let firstKey: String
  }

  /// True if every record can be moved.
  package var isMovable: Bool { !findings.contains { $0.isFatal } }

  /// Reads every record.
  ///
  /// - Parameter progress: Called now and then, with the number of records so far.
  /// - Throws: errors of reading.
  package init(
    of snapshot: StoreSnapshot, for plan: PostgresPlan, progress: (Int) -> Void = { _ in }
  ) throws {
    sequence = snapshot.sequence
    for table in plan.tables {
      var counts = LossCounts(table)
      var encoder = RowEncoder(table, dates: plan.options.dates)
      var collisions = Collisions(table, dates: plan.options.dates)
      try snapshot.forEach(record: table.record.name, stringsAsBlobs: true) { record in
        try encoder.encode(record)
        for (field, loss) in encoder.losses { counts.add(loss, field, record) }
        if let loss = collisions.loss(of: record, key: encoder.key.bytes) {
          counts.add(loss, nil, record)
        }
        recordCount += 1
        if recordCount % 10_000 == 0 { progress(recordCount) }
      }
      findings += counts.findings
    }
  }
}

/// The losses of one record type.
private struct LossCounts {
  private let table: TablePlan
  private var found: [Place: ValueScan.Finding] = [:]

  private struct Place: Hashable {
    let field: String?
    let loss: ValueLoss
  }

  init(_ table: TablePlan) {
    self.table = table
  }

  mutating func add(_ loss: ValueLoss, _ field: String?, _ record: DynamicRecord) {
    let place = Place(field: field, loss: loss)
    if found[place] != nil {
      found[place]?.count += 1
    } else {
      found[place] = ValueScan.Finding(
        record: table.record.name, field: field, loss: loss, isFatal: loss.isFatal,
        reason: loss.text, count: 1, firstKey: table.keyText(of: record))
    }
  }

  var findings: [ValueScan.Finding] {
    let fields = table.record.declaredFields.map(\.name)
    return found.values.sorted { one, other in
      let places = (
        one.field.flatMap { fields.firstIndex(of: $0) } ?? -1,
        other.field.flatMap { fields.firstIndex(of: $0) } ?? -1
      )
      return places.0 != places.1
        ? places.0 < places.1 : one.loss.rawValue < other.loss.rawValue
    }
  }
}

/// Keys and unique values that are the same once their dates are rounded.
private struct Collisions {
  private let key: Bool
  private var lastKey: [UInt8]?
  private let uniques: [[(path: FieldPath, scalar: ScalarType)]]
  private var taken: [Set<[UInt8]>]
  private let dates: DateForm

  init(_ table: TablePlan, dates: DateForm) {
    self.dates = dates
    let record = table.record
    func isDate(_ part: KeyPart) -> Bool { record.field(part.field)?.type.scalar == .date }
    key = dates == .timestamp && record.primaryKey.contains(where: isDate)
    uniques = record.indexes.compactMap { index in
      guard dates == .timestamp, index.isUnique, index.condition == nil,
        index.parts.contains(where: isDate)
      else { return nil }
      return index.parts.compactMap { part in
        record.field(part.field).flatMap { field in
          field.type.scalar.map { (FieldPath(field, in: record), $0) }
        }
      }
    }
    taken = Array(repeating: [], count: uniques.count)
  }

  mutating func loss(of record: DynamicRecord, key bytes: [UInt8]) -> ValueLoss? {
    if key {
      defer { lastKey = bytes }
      if lastKey == bytes { return .sameKey }
    }
    for (place, parts) in uniques.enumerated() {
      let values = parts.map { ($0.path.value(in: record), $0.scalar) }
      if values.contains(where: { $0.0 == .null }) { continue }
      var encoder = ValueEncoder(dates: dates)
      for (value, scalar) in values { encoder.append(value, of: scalar) }
      if !taken[place].insert(encoder.bytes).inserted { return .sameUnique }
    }
    return nil
  }
}

extension TablePlan {
  /// The key of a record, for messages.
  package func keyText(of record: DynamicRecord) -> String {
    columns.prefix(key.count).map { column in
      guard case .value(let path, _) = column.source else { return "" }
      return path.value(in: record).keyText
    }.joined(separator: ", ")
  }
}

extension FieldValue {
  fileprivate var keyText: String {
    switch self {
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .decimal(let value): "\(value)"
    case .string(let value): value.debugDescription
    case .url(let value): value.absoluteString
    case .uuid(let value): "\(value)"
    case .date(let value): "\(value.timeIntervalSinceReferenceDate)"
    case .data(let value):
      value.map { byte in
        let digits = String(byte, radix: 16)
        return digits.utf8.count == 1 ? "0" + digits : digits
      }.joined()
    case .null, .blob, .array, .composite: "\(self)"
    }
  }
}
