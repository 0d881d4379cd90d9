/// An order of strings that the program gives, such as a language's: a name, a version, and a function from a string to
/// bytes that sort as the strings do.
///
/// ```swift
/// extension Collation {
///   static let german = Collation("de", version: "icu 76") { germanSortKey(of: $0) }
/// }
///
/// Index(.collated("name", by: .german))
/// try store.fetch(Person.all.sorted(by: .ascending(\.name, collation: .german)))
/// ```
///
/// A store keeps name and version with each index that uses the collation, and the sort keys in the index; the function is
/// the program's. Whenever the function returns other bytes for a string, give it another version: the index is then
/// another one, and a migration builds it. A function that changes without that puts records where they are not found;
/// the deep check reports them. Two collations are equal if name and version are.
public struct Collation: Hashable, Sendable {
  let content: CollationContent

  /// - Parameters:
  ///   - name: The name, 1 to 255 bytes long: usually the language.
  ///   - version: The version of the function, at most 255 bytes long: change it whenever the function changes.
  ///   - sortKey: Returns the bytes that a string is sorted by. It must return the same bytes for the same string, and is
  ///     called on any thread, for each string that is sorted, indexed, or removed from an index. Strings with the same
  ///     sort key are equal in a `Unique`.
  public init(
    _ name: String, version: String = "1", sortKey: @escaping @Sendable (String) -> [UInt8]
  ) {
    content = CollationContent(name, version, sortKey)
  }

  /// Creates a collation of which only the name is known: that of a store or a lock.
  init(named name: String, version: String) {
    content = CollationContent(name, version, nil)
  }

  /// The name by which stores know it.
  package var name: String { content.name }
  /// The version of the function.
  package var version: String { content.version }

  /// True if the program has given its function.
  var isProvided: Bool { content.sortKey != nil }
}

extension Collation: CustomStringConvertible {
  /// The name and the version.
  public var description: String { version.isEmpty ? name : "\(name) \(version)" }
}

/// The content of a collation: an object, since parts of keys refer to it without counting.
final class CollationContent: Sendable {
  let name: String
  let version: String
  /// Nil if the program has not given the function.
  let sortKey: (@Sendable (String) -> [UInt8])?

  init(_ name: String, _ version: String, _ sortKey: (@Sendable (String) -> [UInt8])?) {
    self.name = name
    self.version = version
    self.sortKey = sortKey
  }
}

extension CollationContent: Hashable {
  static func == (one: CollationContent, other: CollationContent) -> Bool {
    one === other || one.name == other.name && one.version == other.version
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(version)
  }
}

extension [Collation] {
  /// The collation with the function of that with the same name and version among these; as it is if there is none.
  func providing(_ collation: Collation) -> Collation {
    collation.isProvided ? collation : first { $0 == collation && $0.isProvided } ?? collation
  }
}

extension Schema {
  /// The collations of all indexes.
  var collations: [Collation] { records.flatMap(\.collations) }

  /// Returns the schema with the functions of collations that are given.
  func providing(_ collations: [Collation]) -> Schema {
    if collations.isEmpty { return self }
    var schema = self
    for record in records.indices where !records[record].collations.isEmpty {
      for index in records[record].indexes.indices {
        for part in records[record].indexes[index].parts.indices {
          let known = records[record].indexes[index].parts[part].collation
          schema.records[record].indexes[index].parts[part].collation = known.map {
            collations.providing($0)
          }
        }
      }
    }
    return schema
  }
}

extension RecordSchema {
  /// The collations of the record's indexes.
  var collations: [Collation] { indexes.flatMap { $0.parts.compactMap(\.collation) } }
}
