extension RecordDescription {
  /// Makes a record a kind of another: it has everything that its parent has, and fields of its own.
  ///
  /// ```swift
  /// struct BusinessTrip: Record {
  ///   var trip: Trip
  ///   var perDiem: Decimal
  ///
  ///   static func recordDescription(for version: Int) -> RecordDescription {
  ///     Parent(Trip.self, property: "trip")
  ///     Field("perDiem")
  ///   }
  /// }
  /// ```
  ///
  /// The struct contains its parent's. Its primary key is its parent's.
  public struct Parent: Sendable {
    let parent: Destination
    /// The property that contains the parent; empty without a type.
    let property: String
    let storage: KindStorage

    /// - Parameters:
    ///   - parent: The parent, which is in the model, too.
    ///   - property: The name of the property that contains the parent.
    ///   - storage: Keeps the records among those of the parent, or in a record of their own.
    public init<Subject: Record>(
      _ parent: Subject.Type, property: String, storage: KindStorage = .shared
    ) {
      self.parent = .type(parent)
      self.property = property
      self.storage = storage
    }

    /// Makes a record without a type a kind of the one with a stored name.
    public init(_ parent: String, storage: KindStorage = .shared) {
      self.parent = .name(parent)
      property = ""
      self.storage = storage
    }
  }

  /// Makes a record one of which only kinds are written: those that have it as their parent.
  public struct Abstract: Sendable {
    /// Creates the statement.
    public init() {}
  }
}

/// The place of the records of a kind.
public enum KindStorage: Hashable, Sendable {
  /// Among those of the parent: a query of the parent finds them, indexes and unique constraints of the parent hold for
  /// all kinds, and no two have the same primary key.
  case shared
  /// In a record of its own, which has the parent's fields, keys and indexes as well. Nothing is shared with the parent.
  case copied
}

/// Makes a record a kind of another.
public typealias Parent = RecordDescription.Parent
/// Makes a record one of which only kinds are written.
public typealias Abstract = RecordDescription.Abstract

extension Record {
  /// Makes the record a kind of another.
  public typealias Parent = RecordDescription.Parent
  /// Makes the record one of which only kinds are written.
  public typealias Abstract = RecordDescription.Abstract
}

/// A kind as the description of its parent has it.
struct KindDeclaration: Sendable {
  /// Its default stored name.
  let name: String
  let type: (any Record.Type)?
  /// The property that contains the parent.
  let property: String
  /// With its own kinds in it.
  let description: RecordDescription
}

/// A record that another one contains, and the property of the other that is it.
struct Ancestor: Sendable {
  let type: (any Record.Type)?
  let property: String
}

/// One struct of those that contain each other in a value of a kind.
struct TypeLevel: Sendable {
  /// Nil if no type stands for it.
  let type: (any Record.Type)?
  /// The number of its ancestors, which the fields that it declares have, too.
  let generation: Int
  /// The composite that has its fields; nil for fields at the top of the record.
  let composite: String?
  /// The property that contains the next level; nil of the last.
  let property: String?
}

extension [TypeLevel] {
  /// Returns the path from the first to another, with a dot at its end; nil if the other is not there.
  func path(to generation: Int, in composite: String?) -> String? {
    var path = ""
    for level in self {
      if level.generation == generation, level.composite == composite { return path }
      path += level.property.map { $0 + "." } ?? ""
    }
    return nil
  }
}

/// A kind of a record as described and checked.
struct DescribedKind: Sendable {
  /// The name of its composite.
  let name: String
  /// The name of its parent's composite; nil if that is the record itself.
  let parent: String?
  let type: (any Record.Type)?
  var isAbstract = false
  /// Its own struct, and those in it.
  let levels: [TypeLevel]
  /// Of its own.
  var validations: [RecordDescription.Validation] = []
}

/// A description with the type that it is of, and the default stored name.
typealias TypeDescription = (
  description: RecordDescription, type: (any Record.Type)?, name: String
)

/// Puts the descriptions of kinds into those of the records that store them.
struct KindJoining {
  private let all: [TypeDescription]
  private let version: Int
  private var parents: [Int?] = []
  private var declarations: [RecordDescription.Parent?] = []

  /// - Parameter areAll: False if there may be other kinds in the version.
  /// - Returns: A description for each stored record.
  /// - Throws: `.invalidDescription` for a parent that is not there, and for rings.
  static func joined(
    _ all: [TypeDescription], version: Int, areAll: Bool = true
  ) throws(StoreError) -> [TypeDescription] {
    guard all.contains(where: { $0.description.isOfHierarchy }) else { return all }
    var joining = KindJoining(all, version: version)
    try joining.findParents(areAll)
    var records: [TypeDescription] = []
    for place in all.indices where !joining.isShared(place) {
      records.append((try joining.record(at: place), all[place].type, all[place].name))
    }
    return records
  }

  /// Returns types, and after them those of their ancestors that are not among them.
  static func withAncestors(
    _ types: [any Record.Type], version: Int
  ) -> [any Record.Type] {
    var all = types
    var next = 0
    while next < all.count {
      for parent in all[next].recordDescription(for: version).parents {
        guard case .type(let type) = parent.parent, !all.contains(where: { $0 == type }) else {
          continue
        }
        all.append(type)
      }
      next += 1
    }
    return all
  }

  private init(_ all: [TypeDescription], version: Int) {
    self.all = all
    self.version = version
  }

  private func isShared(_ place: Int) -> Bool { declarations[place]?.storage == .shared }

  private func fault(_ place: Int, _ reason: String) -> StoreError {
    .invalidDescription(record: all[place].name, field: nil, version: version, reason: reason)
  }
}

extension KindJoining {
  private mutating func findParents(_ areAll: Bool) throws(StoreError) {
    for place in all.indices {
      let stated = all[place].description.parents
      guard stated.count < 2 else { throw fault(place, "it has two parents; keep one of them") }
      declarations.append(stated.first)
      var parent: Int?
      if let stated = stated.first { parent = try self.parent(stated, of: place) }
      parents.append(parent)
    }
    for place in all.indices {
      var ancestor = parents[place]
      for _ in all.indices {
        guard let next = ancestor else { break }
        ancestor = parents[next]
      }
      guard ancestor == nil else {
        throw fault(place, "its parents lead back to itself; one of them has no parent")
      }
    }
    if !areAll { return }
    // A lock says nothing of kinds that are copied.
    for place in all.indices
    where all[place].description.isAbstract && all[place].type != nil && !parents.contains(place) {
      throw fault(
        place,
        "it is abstract, but no record of the model has it as its parent; add one to the model's records, or leave"
          + " Abstract() out")
    }
  }

  private func parent(
    _ stated: RecordDescription.Parent, of place: Int
  ) throws(StoreError) -> Int {
    let name: String
    switch stated.parent {
    case .type(let type):
      if let found = all.firstIndex(where: { $0.type == type }) { return found }
      name = RecordDescription.name(of: type, in: version)
    case .name(let stated): name = stated
    }
    guard let found = all.firstIndex(where: { $0.description.statedName ?? $0.name == name }) else {
      throw fault(
        place,
        "its parent \(name) is not in this version of the model; add it to the model's records")
    }
    return found
  }

  /// The place of a type, then those of its ancestors.
  private func line(of place: Int) -> [Int] {
    var line: [Int] = []
    var next: Int? = place
    while let place = next {
      line.append(place)
      next = parents[place]
    }
    return line
  }

  /// The description of a stored record: that of a type, with those of its ancestors before it if they are copied.
  private func record(at place: Int) throws(StoreError) -> RecordDescription {
    let line = line(of: place)
    var description = described(place)
    for index in description.elements.indices {
      description.elements[index].generation = line.count - 1
    }
    guard line.count > 1 else { return description }
    guard !description.statesKey else {
      throw fault(place, "it has its parent's primary key, so it declares none; leave it out")
    }
    var inherited: [RecordDescription.Element] = []
    for (generation, ancestor) in line.dropFirst().reversed().enumerated() {
      for var element in all[ancestor].description.elements where element.isCopied {
        element.generation = generation
        inherited.append(element)
      }
    }
    description.elements = inherited + description.elements
    description.ancestors = line.dropLast().map { child in
      Ancestor(
        type: parents[child].flatMap { all[$0].type }, property: declarations[child]?.property ?? ""
      )
    }
    return description
  }

  /// The description of a type with its kinds in it.
  private func described(_ place: Int) -> RecordDescription {
    var description = all[place].description
    description.elements.removeAll { if case .parent = $0.kind { true } else { false } }
    for child in all.indices where parents[child] == place && isShared(child) {
      let kind = KindDeclaration(
        name: all[child].name, type: all[child].type,
        property: declarations[child]?.property ?? "", description: described(child))
      description.elements.append(.init(kind: .kind(kind)))
    }
    return description
  }
}

extension RecordDescription {
  fileprivate var parents: [Parent] {
    elements.compactMap { if case .parent(let parent) = $0.kind { parent } else { nil } }
  }

  fileprivate var isAbstract: Bool {
    elements.contains { if case .abstract = $0.kind { true } else { false } }
  }

  fileprivate var isOfHierarchy: Bool {
    elements.contains { element in
      switch element.kind {
      case .parent, .abstract: true
      default: false
      }
    }
  }

  /// True if it says what the primary key is.
  var statesKey: Bool {
    elements.contains { element in
      switch element.kind {
      case .primaryKey: true
      case .field(let field): field.isPrimaryKey
      default: false
      }
    }
  }
}

extension RecordDescription.Element {
  /// True if a copy of its record has it as well.
  fileprivate var isCopied: Bool {
    switch kind {
    case .field, .primaryKey, .index, .transient, .computed: true
    case .expiry: true
    case .name, .validation, .modifier, .userInfo, .inverse, .parent, .abstract, .kind: false
    }
  }
}
