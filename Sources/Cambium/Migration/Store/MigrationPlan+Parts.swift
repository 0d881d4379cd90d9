extension MigrationPlan {
  /// A reason for which a migration cannot run. Its `description` says what to write instead.
  @nonexhaustive public enum Fault: Hashable, Codable, Sendable {
    /// A change can be neither inferred nor made as a step states it. The record is “Step” for a fault of a step itself.
    case change(record: String, field: String?, reason: String)
    /// Values of records would be refused; `first` is the first such record, and the reason.
    case refusedValues(record: String, field: String, count: Int, of: Int, first: String)
    /// Records have the same values in a new unique constraint, or in a new primary key.
    case duplicates(record: String, constraint: String, count: Int)
    /// The disk has too little space, in bytes.
    case noSpace(needed: Int, free: Int)
  }

  /// A number of refused records that is not final, since the program changes records in the course of the migration.
  public struct Uncertainty: Hashable, Codable, Sendable {
    public let record: String
    /// The number of the records as they are.
    public let recordCount: Int
    /// The fault of the records as they are; nil if there is none.
    public let fault: Fault?
    /// When the program changes records first: “before the step to version 2”.
    public let change: String
  }

  /// A part of the work of a migration.
  public struct Work: Hashable, Codable, Sendable {
    public let kind: Kind
    /// The part in words: “converting Item”.
    public let task: String
    /// The number of records to be read; nil if it reads none.
    public let records: Int?

    @nonexhaustive public enum Kind: String, Hashable, Codable, Sendable {
      /// Whole trees are copied or removed, without reading their records.
      case arrange
      /// Rows are converted in place.
      case convert
      /// Records are built from their values, under new keys or in other trees.
      case rebuild
      /// A closure of the program transforms records.
      case transform
      case buildIndex
      /// The program changes records before or after a step.
      case program
      case check
    }
  }
}

extension MigrationPlan.PlannedStep {
  /// A change that a step makes.
  @nonexhaustive public enum Change: Hashable, Codable, Sendable {
    /// A difference between the two versions. For a field that is new or no longer optional, `value` is that of records
    /// without one, if they get any.
    case difference(SchemaDifference, value: String?)
    /// A step states how the values of a field are made; `text` is the second half of a sentence.
    case values(record: String, field: String, text: String)
    /// A closure transforms the records.
    case transformed(record: String)
    /// The records are built from their values, one by one.
    case rebuilt(record: String)
    /// Primary keys change. Fields of other records that hold such keys do not.
    case keys(record: String)
    /// The program changes records before the step.
    case before
    /// The program changes records after the step.
    case after
    /// The program checks the result.
    case check(String)
  }
}

// MARK: - In words

extension MigrationPlan.Fault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .change(let record, let field, let reason):
      "\(record)\(field.map { ".\($0)" } ?? ""): \(reason)"
    case .refusedValues(let record, let field, let count, let total, let first):
      "\(record).\(field): \(count) of \(total) records would be refused, the first since \(first)"
    case .duplicates(let record, let constraint, let count):
      "\(record): \(count) records have the same \(constraint) as another"
    case .noSpace(let needed, let free):
      "it needs about \(needed.megabytes) on the disk, where \(free.megabytes) are free"
    }
  }
}

extension MigrationPlan.Uncertainty: CustomStringConvertible {
  public var description: String {
    (fault.map(\.description) ?? "\(record): none of \(recordCount) records would be refused")
      + "; that is so of the records as they are, but the program changes records \(change), so only a"
      + " rehearsal shows what is refused then"
  }
}

extension MigrationPlan.Work: CustomStringConvertible {
  public var description: String { task + (records.map { ", \($0) records" } ?? "") }
}

extension MigrationPlan.PlannedStep.Change: CustomStringConvertible {
  public var description: String {
    switch self {
    case .difference(let difference, let value):
      switch difference.change {
      case .added where value != nil: "\(difference), \(value ?? "") in all records"
      case .becameRequired where value != nil: "\(difference), \(value ?? "") where it was null"
      case .removed where difference.field == nil: "\(difference), and all of its records"
      default: "\(difference)"
      }
    case .values(let record, let field, let text): "\(record).\(field) \(text)"
    case .transformed(let record): "\(record): its records are transformed"
    case .rebuilt(let record): "\(record): its records are put together anew"
    case .keys(let record):
      "\(record): its primary keys change; fields of other records that hold them do not, unless a step changes them"
    case .before: "before it, the program changes records"
    case .after: "after it, the program changes records"
    case .check(let text): "it is checked that \(text)"
    }
  }
}

extension Int {
  /// A number of bytes in megabytes.
  var megabytes: String {
    let tenths = (self + 50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10) MB"
  }
}

// MARK: - The changes of a step

extension MigrationPlan.PlannedStep {
  init(_ hop: MigrationRoute.Hop) {
    let change = hop.change
    from = change.from.version
    to = change.to.version
    label = hop.step?.label ?? change.to.label
    isDeferrable = hop.isDeferrable
    kind = (hop.step?.parts.isEmpty ?? true) ? .inferred : .given
    var changes: [Change] = change.added.map {
      .difference(SchemaDifference(.added(as: nil), of: $0.name), value: nil)
    }
    changes += change.removed.map {
      .difference(SchemaDifference(.removed, of: $0.name), value: nil)
    }
    changes += change.transformed.map { .transformed(record: $0.name) }
    for record in change.records { changes += record.planned }
    for part in hop.step?.parts ?? [] {
      switch part.kind {
      case .before: changes.append(.before)
      case .after: changes.append(.after)
      case .check(let check): changes.append(.check(check.text))
      case .update, .transform: break
      }
    }
    self.changes = changes
  }
}

extension RecordChange {
  fileprivate var planned: [MigrationPlan.PlannedStep.Change] {
    let byName = Dictionary(
      fields.map { ($0.new.name, $0) }, uniquingKeysWith: { first, _ in first })
    var planned: [MigrationPlan.PlannedStep.Change] = []
    for difference in old.differences(to: new, by: .number) {
      let field = difference.field.flatMap { byName[$0] }
      // What a step states of a field is all that there is to say of its values.
      if let field, difference.change != .removed, sources[field.new.number] != nil { continue }
      let missing = field?.missing ?? .null
      planned.append(.difference(difference, value: missing == .null ? nil : "\(missing)"))
    }
    for field in fields {
      guard let source = sources[field.new.number] else { continue }
      planned.append(
        .values(record: new.name, field: field.new.name, text: source.text(of: field)))
    }
    if kind == .records { planned.append(.rebuilt(record: new.name)) }
    if changesKeys { planned.append(.keys(record: new.name)) }
    return planned
  }

  /// True if records may have other primary keys afterwards.
  private var changesKeys: Bool {
    if old.primaryKey != new.primaryKey { return true }
    let numbers = Set(new.primaryKey.map(\.field))
    return fields.contains { field in
      numbers.contains(field.new.number)
        && (field.old?.type != field.new.type || sources[field.new.number] != nil)
    }
  }
}

extension FieldSource {
  fileprivate func text(of field: FieldChange) -> String {
    switch self {
    case .value: "is made of its old value"
    case .record: "is computed from the old record"
    case .field(let name): "is \(name) of the old record"
    case .conversion(let policy):
      switch policy {
      case .refuse: "is converted to \(field.new.type)"
      case .replace(let value):
        "is converted to \(field.new.type), \(value) where it does not convert"
      case .setAside:
        "is converted to \(field.new.type), and set aside where it does not convert"
      }
    }
  }
}
