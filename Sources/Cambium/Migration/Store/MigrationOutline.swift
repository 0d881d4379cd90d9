/// The steps of a migration for records that are not in a store, such as those in a database on a server: the versions, and the
/// values that fields get.
package struct MigrationOutline: Sendable {
  /// The steps in words, and the reasons for which they cannot be taken.
  package let plan: MigrationPlan
  /// The steps; none if there are faults.
  package let steps: [Step]
  /// Equal for the same versions, steps, revisions of closures, defaults and conversions.
  package let definitions: String

  /// One step from a version to another.
  package struct Step: Sendable {
    package let from: Schema
    package let to: Schema
    /// The version before, with its records and fields under the names that they have afterwards.
    package let renamed: Schema
    /// The changes of the records that both versions have.
    package let records: [RecordStep]
    /// The reason for which the values of fields do not follow from `records`; nil if they do.
    package let obstacle: String?
  }

  /// The changes of one record type.
  package struct RecordStep: Sendable {
    package let old: RecordSchema
    package let new: RecordSchema
    /// In the order of the new fields.
    package let fields: [FieldStep]

    /// Returns the change of a field; nil if the new version does not have it.
    package func field(_ number: UInt32) -> FieldStep? { fields.first { $0.new.number == number } }
  }

  /// The change of one field.
  package struct FieldStep: Sendable {
    package let new: FieldSchema
    /// The field as it was; nil if it is new.
    package let old: FieldSchema?
    /// The value of records that have none; null if they need none.
    package let missing: FieldValue
    /// The value that a step gives to all records; nil if it gives none.
    package let constant: FieldValue?
  }

  /// - Parameter stored: A version of the model.
  /// - Throws: `StoreError.invalidDescription`; `.newerSchema` if the version is above that of the model.
  package init(
    from stored: Schema, to model: StoreModel, _ steps: [MigrationStep],
    _ options: MigrationOptions
  ) throws(StoreError) {
    guard stored.version <= model.version else {
      throw .newerSchema(found: stored.version, supported: model.version)
    }
    let route = try MigrationRoute(from: stored, history: [stored], to: model, steps, options)
    var plan = try MigrationPlan(route)
    plan.add([], reading: 0, faults: route.hops.flatMap(\.setAsideFaults))
    self.plan = plan
    guard plan.canRun else {
      self.steps = []
      definitions = ""
      return
    }
    self.steps = route.hops.map { Step($0) }
    let identity = try MigrationTasks(route, stepwise: false).identity
    definitions = "\(identity.high).\(identity.low)"
  }
}

extension MigrationOutline.Step {
  init(_ hop: MigrationRoute.Hop) {
    from = hop.change.from
    to = hop.change.to
    renamed = from.renamed(as: to)
    records = hop.change.records.map { MigrationOutline.RecordStep($0) }
    obstacle = hop.obstacle
  }
}

extension MigrationOutline.RecordStep {
  fileprivate init(_ change: RecordChange) {
    old = change.old
    new = change.new
    fields = change.fields.map { field in
      let constant: FieldValue? =
        if case .constant(let value) = change.sources[field.new.number] { value } else { nil }
      return MigrationOutline.FieldStep(
        new: field.new, old: field.old, missing: field.missing, constant: constant)
    }
  }
}

// MARK: - Changes that take the records themselves

extension MigrationRoute.Hop {
  /// Only a store keeps values beside its records.
  fileprivate var setAsideFaults: [MigrationPlan.Fault] {
    change.all.flatMap { record in
      record.fields.filter { record.sources[$0.new.number]?.setsAside ?? false }.map { field in
        .change(
          record: record.new.name, field: field.new.name,
          reason:
            "only a store sets values aside; replace those that do not convert, or refuse them")
      }
    }
  }

  fileprivate var obstacle: String? {
    if let step {
      if !step.before.isEmpty { return "the program changes records before it" }
      if !step.after.isEmpty { return "the program changes records after it" }
      if !step.checks.isEmpty { return "the program checks records after it" }
    }
    if let place = change.transformed.first {
      return "a closure transforms the records of \(place.name)"
    }
    if let move = change.adding.first {
      return "records of \(move.old.name) become records of \(move.new.name)"
    }
    for record in change.records {
      if let reason = record.obstacle { return reason }
    }
    return nil
  }
}

extension RecordChange {
  fileprivate var obstacle: String? {
    if share != nil { return "the records of \(old.name) are divided by their kinds" }
    for field in fields {
      if let reason = obstacle(field) { return "\(new.name).\(field.new.name) \(reason)" }
    }
    return kind == .records ? "the records of \(new.name) get other keys, or are put together" : nil
  }

  private func obstacle(_ field: FieldChange) -> String? {
    let now = field.new
    if let source = sources[now.number] {
      guard case .constant = source, now.composite == nil, now.type != .composite else {
        return "is made of other values"
      }
    }
    guard let before = field.old else {
      return now.derivation?.sequence == nil ? nil : "gets numbers in records that exist"
    }
    if field.isMoved { return "moves into a composite, or out of one" }
    if before.type.stored != now.type.stored {
      guard case (.scalar(let type), .scalar(let wider)) = (before.type, now.type),
        type.widens(to: wider)
      else { return "was \(before.type), and is \(now.type)" }
    }
    if now.type == .composite, before.isOptional != now.isOptional {
      return "becomes \(now.isOptional ? "optional" : "required") as a whole"
    }
    if before.derivation?.sequence != now.derivation?.sequence {
      return "is numbered by another sequence"
    }
    if before.derivation != nil, now.derivation == nil { return "is not derived any more" }
    if let reference = now.reference, reference.isChecked, reference.kind != nil,
      before.reference?.kind != reference.kind || before.reference?.isChecked == false
    {
      return "leads to records of one kind, which no foreign key checks"
    }
    return nil
  }
}

// MARK: - Names

extension Schema {
  /// The schema with the names that its records and fields have in another version.
  fileprivate func renamed(as other: Schema) -> Schema {
    var schema = self
    for place in schema.records.indices {
      // What the other version does not have must not have a name that something else has there.
      guard let new = other.record(number: schema.records[place].number) else {
        schema.records[place].name += "#\(schema.records[place].number)"
        continue
      }
      schema.records[place].rename(as: new)
    }
    // References and inverses state names.
    for place in schema.records.indices {
      for column in schema.records[place].fields.indices {
        guard let number = schema.records[place].fields[column].reference?.record,
          let target = schema.record(number: number)
        else { continue }
        schema.records[place].fields[column].reference?.destination = target.name
        let composite = schema.records[place].fields[column].reference?.composite
        if let kind = composite.flatMap({ target.field($0) }) {
          schema.records[place].fields[column].reference?.kind = kind.name
        }
      }
      for end in schema.records[place].inverses.indices {
        let inverse = schema.records[place].inverses[end]
        guard let record = schema.record(number: inverse.record) else { continue }
        schema.records[place].inverses[end].related = record.name
        if let field = record.field(inverse.field) {
          schema.records[place].inverses[end].reference = field.name
        }
      }
    }
    return schema
  }
}

extension RecordSchema {
  fileprivate mutating func rename(as other: RecordSchema) {
    name = other.name
    for place in fields.indices {
      let number = fields[place].number
      fields[place].name = other.field(number)?.name ?? fields[place].name + "#\(number)"
    }
    for place in indexes.indices {
      if let new = other.indexes.first(where: { $0.number == indexes[place].number }) {
        indexes[place].name = new.name
      }
    }
  }
}
