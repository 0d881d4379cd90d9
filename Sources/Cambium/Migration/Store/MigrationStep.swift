/// A step from one version to another: the changes to records that do not follow from the two descriptions.
///
/// ```swift
/// MigrationStep(to: 3) {
///   UpdateRecord("Item") {
///     UpdateField("price", converting: .replace(0))
///     UpdateField("title", from: { old in try old["name", as: String?.self] ?? "untitled" })
///   }
///   TransformRecords("Person", into: "Person", "Address") { old, emit in … }
/// }
/// ```
///
/// Steps that a program does not state are inferred, and so is everything that a step does not state. A program passes all
/// of its steps when it opens a store; those that lead from the store's version to its own are taken.
public struct MigrationStep: Sendable {
  /// The versions that it leads from. Those of a fingerprint are known when a model is.
  package let from: ClosedRange<Int>
  /// The version that it leads to.
  public let to: Int
  /// Its name in plans, traces and errors.
  let label: String?
  /// The revision of its closures, which cannot be compared. Raise it when you change what one of them does: a migration
  /// that was interrupted with other closures then begins again from the old version, instead of resuming after the records
  /// that those have made.
  let revision: Int
  let kind: Kind
  let parts: [Part]
  /// The fingerprint of the version that it leads from, if it is stated by that.
  private let fingerprint: Fingerprint?

  enum Kind: Hashable, Sendable {
    /// One version up, in its place in the chain.
    case next
    /// From one version to another that is not the next.
    case direct
    /// From each of several versions to one above them all.
    case squashed
  }

  /// Creates a step from the version before.
  ///
  /// - Parameters:
  ///   - label: Its name in plans, traces and errors.
  ///   - revision: The revision of its closures.
  public init(
    to version: Int, label: String? = nil, revision: Int = 0,
    @ListBuilder<Part> _ parts: () -> [Part] = { [] }
  ) {
    let old = max(version, 1) - 1
    self.init(old...old, version, .next, label, revision, parts())
  }

  /// Creates a step from one version straight to another, taken instead of the steps between.
  ///
  /// At each version the step is taken that leads farthest without leading past the program's version, so steps may follow
  /// one another: 1 → 3, then 3 → 5. Everything that the step does not state follows from the descriptions of the versions
  /// between, as it does step by step: renamings and defaults that only those have are followed. Changes that steps between
  /// state are not made.
  ///
  /// Steps backwards let an older program open the store again. They may follow one another, too, over versions that the store
  /// has had. If it has never had the program's own version, what has the same name there as in the version above is the
  /// same.
  public init(
    from old: Int, to version: Int, label: String? = nil, revision: Int = 0,
    @ListBuilder<Part> _ parts: () -> [Part] = { [] }
  ) {
    let isNext = version > 0 && old == version - 1
    self.init(old...old, version, isNext ? .next : .direct, label, revision, parts())
  }

  /// Creates a step from the version with a fingerprint, as a lock and `cambium info` show it. Otherwise it is one from that
  /// version to another: it is taken only if the model describes a version that has the fingerprint.
  public init(
    from fingerprint: Fingerprint, to version: Int, label: String? = nil, revision: Int = 0,
    @ListBuilder<Part> _ parts: () -> [Part] = { [] }
  ) {
    self.init(0...0, version, .direct, label, revision, parts(), fingerprint)
  }

  /// Creates one step in place of several old ones: it leads from each of some versions to one above them all, as
  /// `init(from:to:label:revision:_:)` does from one.
  public init(
    squashing old: ClosedRange<Int>, to version: Int, label: String? = nil, revision: Int = 0,
    @ListBuilder<Part> _ parts: () -> [Part] = { [] }
  ) {
    self.init(old, version, .squashed, label, revision, parts())
  }

  private init(
    _ from: ClosedRange<Int>, _ to: Int, _ kind: Kind, _ label: String?, _ revision: Int,
    _ parts: [Part], _ fingerprint: Fingerprint? = nil
  ) {
    self.from = from
    self.to = to
    self.kind = kind
    self.label = label
    self.revision = revision
    self.parts = parts
    self.fingerprint = fingerprint
  }

  /// Returns the step with the version that its fingerprint stands for.
  ///
  /// - Throws: `.invalidDescription` if no version of the model has the fingerprint.
  func resolved(in model: StoreModel) throws(StoreError) -> MigrationStep {
    guard let fingerprint else { return self }
    guard let old = try model.version(of: fingerprint) else {
      throw model.invalid(
        "a step leads from \(fingerprint), which is the fingerprint of no version")
    }
    return MigrationStep(
      old...old, to, to == old + 1 ? .next : .direct, label, revision, parts)
  }
}

extension MigrationStep {
  /// One statement of a step.
  public struct Part: Sendable {
    let kind: Kind

    enum Kind: Sendable {
      case update(UpdateRecord)
      case transform(TransformRecords)
      case before(StepHook)
      case after(StepHook)
      case check(CheckRecords)
      /// Only a lock names the step; what it changes is known to the program alone, which is not running.
      case elsewhere
    }
  }
}

// MARK: Steps in locks

extension MigrationStep {
  /// A step that a lock names. It cannot be taken.
  init(_ stated: StatedStep) {
    let isNext = stated.from == stated.to - 1...stated.to - 1
    self.init(
      stated.from, stated.to, stated.isSquashed ? .squashed : isNext ? .next : .direct,
      stated.label, stated.revision, [Part(kind: .elsewhere)])
  }

  /// The step as a lock states it.
  var stated: StatedStep {
    StatedStep(
      from: from, to: to, isSquashed: kind == .squashed, label: label, revision: revision)
  }

  /// True if only a lock names it.
  var isElsewhere: Bool {
    parts.contains { if case .elsewhere = $0.kind { true } else { false } }
  }
}

extension ListBuilder where Element == MigrationStep.Part {
  public static func buildExpression(_ part: UpdateRecord) -> [Element] {
    [Element(kind: .update(part))]
  }
  public static func buildExpression(_ part: TransformRecords) -> [Element] {
    [Element(kind: .transform(part))]
  }
  public static func buildExpression(_ part: RunBefore) -> [Element] {
    [Element(kind: .before(part.hook))]
  }
  public static func buildExpression(_ part: RunAfter) -> [Element] {
    [Element(kind: .after(part.hook))]
  }
  public static func buildExpression(_ part: CheckRecords) -> [Element] {
    [Element(kind: .check(part))]
  }
}

// MARK: The statements

extension MigrationStep {
  /// Returns the statements of the step on rows and records.
  ///
  /// - Parameter old: The version that it is taken from.
  func changes(from old: Int) -> GivenChanges {
    var changes = GivenChanges()
    for part in parts {
      switch part.kind {
      case .update(let update):
        changes.fields[update.name, default: [:]].merge([:]) { $1 }
        for field in update.fields {
          changes.fields[update.name, default: [:]][field.name] = field.source
        }
      case .transform(let transform):
        changes.transformed.insert(transform.source.name(in: old))
      case .before, .after, .check, .elsewhere: break
      }
    }
    return changes
  }

  var transforms: [TransformRecords] {
    parts.compactMap { if case .transform(let transform) = $0.kind { transform } else { nil } }
  }

  var before: [StepHook] {
    parts.compactMap { if case .before(let hook) = $0.kind { hook } else { nil } }
  }

  var after: [StepHook] {
    parts.compactMap { if case .after(let hook) = $0.kind { hook } else { nil } }
  }

  var checks: [CheckRecords] {
    parts.compactMap { if case .check(let check) = $0.kind { check } else { nil } }
  }

  /// True if it reads one record at a time, and makes one of it with the same key: it is then done in one pass with such
  /// steps before and after it.
  var isOfRows: Bool {
    parts.allSatisfy { if case .update = $0.kind { true } else { false } }
  }
}

// MARK: - Hooks and checks

/// Changes records of the old version before a step reads them, in one atomic slice: for example, removes duplicates
/// before a field becomes unique.
///
/// ```swift
/// MigrationStep(to: 2) {
///   RunBefore { transaction in _ = try transaction.delete(record: "Item", key: 5) }
/// }
/// ```
///
/// The transaction is one on the trees that the migration makes, in the version before the step: no program sees its
/// changes unless the migration ends. Hooks of Swift types do not run; their validations do. The closure may run again
/// after a crash, on the same records as the first time.
public struct RunBefore: Sendable {
  let hook: StepHook

  /// - Parameter types: Swift types for records of that version, whose descriptions must be the step's; records without a
  ///   type are `DynamicRecord`s.
  public init(
    _ types: any Record.Type..., body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    self.init(types: types, body: body)
  }

  /// Creates the hook with the Swift types of an array.
  public init(
    types: [any Record.Type], body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    hook = StepHook(types: types, body: body)
  }
}

/// Changes records of the new version after a step has made them, in one atomic slice. Otherwise it is like `RunBefore`.
public struct RunAfter: Sendable {
  let hook: StepHook

  /// - Parameter types: Swift types for records of the new version.
  public init(
    _ types: any Record.Type..., body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    self.init(types: types, body: body)
  }

  /// Creates the hook with the Swift types of an array.
  public init(
    types: [any Record.Type], body: @escaping @Sendable (inout WriteTransaction) throws -> Void
  ) {
    hook = StepHook(types: types, body: body)
  }
}

/// A closure that changes the records of a version, and the Swift types that it uses.
struct StepHook: Sendable {
  let types: [any Record.Type]
  let body: @Sendable (inout WriteTransaction) throws -> Void
}

/// Checks the records that a step has made. If it throws, the store is unchanged.
public struct CheckRecords: Sendable {
  let text: String
  let types: [any Record.Type]
  let body: @Sendable (StoreSnapshot) throws -> Void

  /// - Parameters:
  ///   - text: The rule that it checks, for plans and errors.
  ///   - types: Swift types for records of the new version.
  public init(
    _ text: String, _ types: any Record.Type...,
    body: @escaping @Sendable (StoreSnapshot) throws -> Void
  ) {
    self.text = text
    self.types = types
    self.body = body
  }
}

/// The sources of a record's fields in a step. Fields that it does not name are inferred.
public struct UpdateRecord: Sendable {
  let name: String
  let fields: [UpdateField]

  /// - Parameter name: The record's name after the step.
  public init(_ name: String, @ListBuilder<UpdateField> _ fields: () -> [UpdateField]) {
    self.name = name
    self.fields = fields()
  }
}

/// The source of the value of one field in a step.
///
/// A part of a composite is named with the composite's name and a dot before it. If the composite may be null, a new
/// record has it if the old one had it, or if one of its parts is given a value here; a default alone does not make it.
/// Null stands for no value: then the field has its default, if it has one. Closures may be called for a record more than
/// once, on any thread, and must give the same result each time.
public struct UpdateField: Sendable {
  let name: String
  let source: FieldSource

  /// Makes the value by a function of the field's old value, which is null if it had none.
  ///
  /// ```swift
  /// UpdateField("name", by: { old in try old.as(String.self)?.uppercased() })
  /// ```
  public init<Value: FieldValueConvertible>(
    _ name: String, by transform: @escaping @Sendable (FieldValue) throws -> Value
  ) {
    self.name = name
    source = .value { value in try transform(value).fieldValue }
  }

  /// Computes the value from the whole old record. Reading a field that the old version does not have, or as a type that
  /// it is not, fails the migration.
  ///
  /// ```swift
  /// UpdateField("title", from: { old in try old["nick", as: String?.self] ?? old["name", as: String.self] })
  /// ```
  public init<Value: FieldValueConvertible>(
    _ name: String, from compute: @escaping @Sendable (OldRecord) throws -> Value
  ) {
    self.name = name
    source = .record { record in try compute(record).fieldValue }
  }

  /// Computes the value from the whole old record and the version before, whole: other records, queries, and along
  /// relations.
  ///
  /// ```swift
  /// UpdateField("books", from: { old, before in
  ///   try before.count(record: "Book", where: .comparison(field: "author", .equal, old["id"]))
  /// })
  /// ```
  ///
  /// The snapshot is of the records as the step finds them, after its `RunBefore`; it does not change while the step runs, nor
  /// after an interruption. The records are put together anew.
  ///
  /// - Parameters:
  ///   - name: The name of the field in the new version.
  ///   - compute: Makes the value. It may be called for a record more than once, on any thread.
  public init<Value: FieldValueConvertible>(
    _ name: String,
    from compute: @escaping @Sendable (_ old: OldRecord, _ before: StoreSnapshot) throws -> Value
  ) {
    self.name = name
    source = .version { record, version in try compute(record, version.snapshot).fieldValue }
  }

  /// Gives the field the same value in every record.
  ///
  /// ```swift
  /// UpdateField("origin", value: "import")
  /// ```
  ///
  /// - Parameter value: Of the field's type; the plan refuses another.
  public init(_ name: String, value: FieldValue) {
    self.name = name
    source = .constant(value)
  }

  /// Keeps one element of the field's old value, a list, as `MigrationInfo(choosing:)` does in the description of the new
  /// version.
  ///
  /// ```swift
  /// UpdateField("author", choosing: .first)
  /// ```
  ///
  /// - Parameter choice: The element that is kept; the plan refuses one that the field's old value cannot have.
  public init(_ name: String, choosing choice: ElementChoice) {
    self.name = name
    source = .element(ElementSource(choice))
  }

  /// Takes the value of another field of the old record, such as `address.city`, or of one that it leads to, such as
  /// `author.name`, whose type is the same or widens.
  ///
  /// A path leads over the single references of the old version, as far as one likes. Where a record on the way is missing, the
  /// field has its default, or no value.
  public init(_ name: String, path: String) {
    self.name = name
    source = .field(path)
  }

  /// Converts the old value to the new type: numbers, booleans, dates, UUIDs and UTF-8 bytes from and to strings, integers
  /// from and to other numbers if they are whole. The article on field types has the table.
  public init(_ name: String, converting policy: ConversionPolicy) {
    self.name = name
    source = .conversion(policy)
  }
}
