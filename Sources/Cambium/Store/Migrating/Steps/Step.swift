/// A step from one version to another, as far as the descriptions of the two do not say what becomes of records.
///
/// ```swift
/// Step(to: 3) {
///   UpdateRecord("Item") {
///     UpdateField("price", converting: .replace(0))
///     UpdateField("title", from: { old in try old["name", as: String?.self] ?? "untitled" })
///   }
///   TransformRecords("Person", into: "Person", "Address") { old, emit in … }
/// }
/// ```
///
/// Steps that nothing is said of are inferred, and so is of each what it does not say. A program that opens a
/// store of an older version gives all of its steps; those that lead from the store's version to its own are
/// done.
public struct Step: Sendable {
  /// The versions that it leads from.
  public let from: ClosedRange<Int>
  /// The version that it leads to.
  public let to: Int
  /// What it is called in plans, traces and errors.
  public let label: String?
  let kind: Kind
  let parts: [Part]

  enum Kind: Hashable, Sendable {
    /// One version up, in its place in the chain.
    case next
    /// Done where exactly these two versions are the store's and the program's.
    case direct
    /// Done where the store has one of its versions; then the chain goes on.
    case squashed
  }

  /// The step from the version before.
  public init(
    to version: Int, label: String? = nil, @Builder _ parts: () -> [Part] = { [] }
  ) {
    let old = max(version, 1) - 1
    self.init(old...old, version, .next, label, parts())
  }

  /// A way from one version straight to another: taken exactly where the store has the one and the program
  /// the other, instead of the steps between. Backwards, it is what an older program needs to open the store
  /// again.
  public init(
    from old: Int, to version: Int, label: String? = nil,
    @Builder _ parts: () -> [Part] = { [] }
  ) {
    let isNext = version > 0 && old == version - 1
    self.init(old...old, version, isNext ? .next : .direct, label, parts())
  }

  /// One step in place of several old ones: it leads from each of some versions to one above them all, and the
  /// chain goes on from there.
  public init(
    squashing old: ClosedRange<Int>, to version: Int, label: String? = nil,
    @Builder _ parts: () -> [Part] = { [] }
  ) {
    self.init(old, version, .squashed, label, parts())
  }

  private init(
    _ from: ClosedRange<Int>, _ to: Int, _ kind: Kind, _ label: String?, _ parts: [Part]
  ) {
    self.from = from
    self.to = to
    self.kind = kind
    self.label = label
    self.parts = parts
  }
}

extension Step {
  /// One thing that a step says.
  public struct Part: Sendable {
    let kind: Kind

    enum Kind: Sendable {
      case update(UpdateRecord)
      case transform(TransformRecords)
      case before(Before)
      case after(After)
      case check(Check)
    }
  }

  /// Collects what a step says.
  @resultBuilder public enum Builder {
    public static func buildExpression(_ part: UpdateRecord) -> [Part] {
      [Part(kind: .update(part))]
    }
    public static func buildExpression(_ part: TransformRecords) -> [Part] {
      [Part(kind: .transform(part))]
    }
    public static func buildExpression(_ part: Before) -> [Part] { [Part(kind: .before(part))] }
    public static func buildExpression(_ part: After) -> [Part] { [Part(kind: .after(part))] }
    public static func buildExpression(_ part: Check) -> [Part] { [Part(kind: .check(part))] }
    public static func buildBlock(_ parts: [Part]...) -> [Part] { parts.flatMap { $0 } }
    public static func buildOptional(_ part: [Part]?) -> [Part] { part ?? [] }
    public static func buildEither(first part: [Part]) -> [Part] { part }
    public static func buildEither(second part: [Part]) -> [Part] { part }
    public static func buildArray(_ parts: [[Part]]) -> [Part] { parts.flatMap { $0 } }
  }
}

// MARK: What it says

extension Step {
  /// What it says of rows and records.
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
      case .before, .after, .check: break
      }
    }
    return changes
  }

  var transforms: [TransformRecords] {
    parts.compactMap { if case .transform(let transform) = $0.kind { transform } else { nil } }
  }

  var before: [Before] {
    parts.compactMap { if case .before(let hook) = $0.kind { hook } else { nil } }
  }

  var after: [After] {
    parts.compactMap { if case .after(let hook) = $0.kind { hook } else { nil } }
  }

  var checks: [Check] {
    parts.compactMap { if case .check(let check) = $0.kind { check } else { nil } }
  }

  /// Whether it looks at one record at a time, and makes one of it with the same key: then it is done in one
  /// pass with such steps before and behind it.
  var isOfRows: Bool {
    parts.allSatisfy { if case .update = $0.kind { true } else { false } }
  }
}
