/// One version of a model, with types of its own.
///
/// A program that keeps the types of earlier versions, each in a namespace of its own, describes every version by the types
/// of the time. Types of the same stored name stand for the same record in different versions; steps and hooks of migrations
/// are written with the types of both sides.
///
/// ```swift
/// enum V1 { struct Laundry: Record { … } }
/// enum V2 { struct Laundry: Record { … } }
///
/// let model = StoreModel([
///   ModelVersion(1, label: "First", records: [V1.Laundry.self]),
///   ModelVersion(2, label: "Items", records: [V2.Laundry.self]),
/// ])
/// ```
public struct ModelVersion: Sendable {
  /// The version, counted from 1.
  public let number: Int
  /// A name for the version, such as that of the program's release.
  public let label: String?
  /// The types of the version.
  public let records: [any Record.Type]
  /// The types of each configuration, by its name.
  public let configurations: [String: [any Record.Type]]
  /// The descriptions of records without a type, by their stored names, and facts about the version before that types
  /// do not state.
  let descriptions: [String: RecordDescription]

  /// Creates a version.
  ///
  /// - Parameters:
  ///   - number: The version. It is what `recordDescription(for:)` of the types is called with.
  ///   - label: A name for the version.
  ///   - records: The types of the version.
  ///   - descriptions: The descriptions of records that no type stands for, by their stored names. They are read and written
  ///     as `DynamicRecord`s, and are in every configuration. The description of a record that a type does stand for gives
  ///     its `renamingID`s and its defaults for migration where the type states none; the rest of it is not used.
  ///   - configurations: Subsets of the types, each for a store of its own: see ``StoreGroup``.
  public init(
    _ number: Int, label: String? = nil, records: [any Record.Type] = [],
    describing descriptions: [String: RecordDescription] = [:],
    configurations: [String: [any Record.Type]] = [:]
  ) {
    self.number = number
    self.label = label
    self.records = records
    self.descriptions = descriptions
    self.configurations = configurations
  }

  /// Returns the part of the version in a configuration.
  fileprivate func configuration(_ name: String) -> ModelVersion {
    ModelVersion(
      number, label: label, records: configurations[name] ?? [], describing: descriptions)
  }
}

extension ModelVersion {
  /// Returns the version under another number.
  func repeated(as number: Int) -> ModelVersion {
    ModelVersion(
      number, label: label, records: records, describing: descriptions,
      configurations: configurations)
  }
}

// MARK: - Origins apart from types

extension ModelVersion {
  /// The records of the version.
  var statedRecords: [TypeDescription] {
    var all: [TypeDescription] = records.map { type in
      (type.typedDescription(for: number), type, RecordDescription.name(of: type))
    }
    var places: [String: Int] = [:]
    for (place, record) in all.enumerated().reversed() {
      places[record.description.statedName ?? record.name] = place
    }
    for (name, description) in descriptions {
      let name = description.statedName ?? name
      if let place = places[name] {
        all[place].description.takeOrigins(of: name, from: description)
      } else {
        places[name] = all.count
        all.append((description, nil, name))
      }
    }
    return all
  }
}

extension RecordDescription {
  /// Takes over the statements of another description about the version before, unless this one has its own.
  fileprivate mutating func takeOrigins(of name: String, from other: RecordDescription) {
    var fields: [String: MigrationInfo] = [:]
    for element in other.elements {
      switch element.kind {
      case .name(let stated) where stated.renamingID != nil: takeOrigin(of: name, from: stated)
      case .field(let field): fields[field.name] = field.migrationInfo
      default: break
      }
    }
    for place in elements.indices {
      guard case .field(var field) = elements[place].kind, field.migrationInfo == nil else {
        continue
      }
      field.migrationInfo = fields[field.name]
      elements[place].kind = .field(field)
    }
  }

  private mutating func takeOrigin(of name: String, from stated: RecordName) {
    let place = elements.firstIndex { if case .name = $0.kind { true } else { false } }
    guard let place else { return elements.append(Element(kind: .name(stated))) }
    if case .name(let own) = elements[place].kind, own.renamingID == nil {
      elements[place].kind = .name(RecordName(own.name, renamingID: stated.renamingID))
    }
  }
}

// MARK: - Configurations

extension StoreModel {
  /// Returns the model of a configuration: the same versions, with the records of the configuration alone. A store of it is
  /// opened, checked and migrated like any other.
  ///
  /// References that lead to records of other configurations are plain keys there. They must not be checked.
  ///
  /// ```swift
  /// let drafts = try PersistentStore(at: "drafts.cambium", model: model.configuration("drafts"))
  /// ```
  ///
  /// - Throws: `StoreError.invalidDescription` if there is no such configuration.
  public func configuration(_ name: String) throws(StoreError) -> StoreModel {
    guard let members = configurations[name] else {
      throw invalid(
        "there is no configuration “\(name)”; there are: \(configurationNames.joined(separator: ", "))"
      )
    }
    var part = StoreModel(
      version, label, members,
      removed.filter { $0.configurations.contains(name) }.map {
        RemovedRecord($0.name, description: $0.description)
      }, [:], versions: versions.map { $0.configuration(name) }, isUntyped: isUntyped)
    part.elsewhere = { [self, part] version in
      var others: [String: RecordDescription] = [:]
      for record in statedRecords(in: version) {
        others[record.description.statedName ?? record.name] = record.description
      }
      for record in part.statedRecords(in: version) {
        others[record.description.statedName ?? record.name] = nil
      }
      return others
    }
    return part
  }

  /// The names of the configurations, sorted.
  var configurationNames: [String] { configurations.keys.sortedRarely { $0.precedes($1) } }
}

// MARK: - Versions by fingerprint

extension StoreModel {
  /// Returns the newest version that has a fingerprint; nil if none has.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  public func version(of fingerprint: Fingerprint) throws(StoreError) -> Int? {
    try schemas().last { $0.fingerprint == fingerprint }?.version
  }
}
