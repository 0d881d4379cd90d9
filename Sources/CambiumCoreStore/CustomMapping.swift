public import Cambium

/// The mapping of the objects of one entity to those of another, or the same, in the newer version.
public struct CustomMapping: Sendable {
  /// Makes a destination of a source: calls `create`, and sets its attributes. An object for which it does not call it is dropped.
  ///
  /// It may be called for an object more than once, on any thread, and must do the same each time.
  public typealias Transformer =
    @Sendable (_ source: OldRecord, _ create: () -> DestinationObject) throws -> Void

  private enum Kind: Sendable {
    case delete
    case insert
    case copy
    case transform(Transformer?)
  }

  private let kind: Kind
  private let source: String?
  private let destination: String?

  /// The newer version does not have the entity.
  public static func deleteEntity(sourceEntity: String) -> CustomMapping {
    CustomMapping(kind: .delete, source: sourceEntity, destination: nil)
  }

  /// The older version does not have the entity.
  public static func insertEntity(destinationEntity: String) -> CustomMapping {
    CustomMapping(kind: .insert, source: nil, destination: destinationEntity)
  }

  /// Both versions have the entity, with the same attributes; perhaps under another name.
  public static func copyEntity(
    sourceEntity: String, destinationEntity: String
  ) -> CustomMapping {
    CustomMapping(kind: .copy, source: sourceEntity, destination: destinationEntity)
  }

  /// A closure makes the objects. Identities, and relations that both versions have, are taken over.
  public static func transformEntity(
    sourceEntity: String, destinationEntity: String, transformer: @escaping Transformer
  ) -> CustomMapping {
    CustomMapping(
      kind: .transform(transformer), source: sourceEntity, destination: destinationEntity)
  }

  /// The objects are inferred from the two descriptions.
  public static func transformEntity(
    sourceEntity: String, destinationEntity: String
  ) -> CustomMapping {
    CustomMapping(kind: .transform(nil), source: sourceEntity, destination: destinationEntity)
  }

  /// Copies all attributes that both versions have; a transformer to begin with.
  public static let inferredTransformation: Transformer = { source, create in
    let object = create()
    object.enumerateAttributes { attribute, old in
      if let old { object[attribute] = source.record[old] }
    }
  }
}

extension CustomMapping {
  /// - Throws: `CoreStoreError.invalidMapping`.
  func check(_ versions: MappedVersions) throws(CoreStoreError) {
    let (old, new) = (
      source.map { versions.old.record(named: $0) },
      destination.map { versions.new.record(named: $0) }
    )
    if let source, old == .some(nil) { throw .invalidMapping("the older version has no \(source)") }
    if let destination, new == .some(nil) {
      throw .invalidMapping("the newer version has no \(destination)")
    }
    switch kind {
    case .delete:
      if let source, let name = versions.newName(of: source) {
        throw .invalidMapping("\(source) is not deleted, the newer version has it as \(name)")
      }
    case .insert:
      if let destination, let name = versions.oldName(of: destination) {
        throw .invalidMapping("\(destination) is not new, the older version has it as \(name)")
      }
    case .copy:
      if let old = old ?? nil, let new = new ?? nil,
        old.name == new.name && old.fingerprint != new.fingerprint
      {
        throw .invalidMapping("\(old.name) is not the same in both versions; transform it")
      }
    case .transform: break
    }
  }

  /// Returns the transformation that the core runs for it; nil if it follows from the descriptions.
  func transformation(_ versions: MappedVersions) -> Transformation? {
    guard let source, let destination else { return nil }
    let transformer: Transformer
    switch kind {
    case .delete, .insert: return nil
    case .copy, .transform(nil):
      if versions.newName(of: source) == destination { return nil }
      transformer = Self.inferredTransformation
    case .transform(let given?): transformer = given
    }
    return Transformation(
      source: source, destination: destination,
      fields: versions.fields(from: source, to: destination), transformer: transformer)
  }
}

/// A transformer with the facts that it needs about the two versions.
struct Transformation: Sendable {
  let source: String
  let destination: String
  let fields: [MappedField]
  let transformer: CustomMapping.Transformer

  func run(_ old: OldRecord, _ emit: RecordEmitter) throws {
    var object: DestinationObject?
    try transformer(old) {
      if let object { return object }
      let made = DestinationObject(destination, fields, of: old)
      object = made
      return made
    }
    if let object { try emit(object.record) }
  }
}

extension CustomMapping: CustomStringConvertible {
  /// The mapping and its entities: `.copyEntity ("Dog" → "Cat")`.
  public var description: String {
    let name =
      switch kind {
      case .delete: ".deleteEntity"
      case .insert: ".insertEntity"
      case .copy: ".copyEntity"
      case .transform: ".transformEntity"
      }
    let entities = [source, destination].compactMap(\.self).map { "\"\($0)\"" }
    return "\(name) (\(entities.joined(separator: " → ")))"
  }
}
