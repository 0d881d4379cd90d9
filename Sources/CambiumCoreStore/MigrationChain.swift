/// The versions of a model in the order in which stores are migrated: none, a list, or a tree.
///
/// ```swift
/// let none: MigrationChain = nil                                   // stores of other versions are refused
/// let list: MigrationChain = ["V1", "V2", "V3"]
/// let tree: MigrationChain = ["V1": "V3", "V2": "V3"]              // V1 leads past V2
/// ```
public struct MigrationChain: Hashable, Sendable, ExpressibleByNilLiteral,
  ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// The version after each.
  let next: [String: String]
  /// All versions, in the order in which they are named.
  let versions: [String]
  /// The reason for which it is no chain.
  let fault: String?

  private init(_ edges: [(String, String)], alone: [String] = []) {
    var next: [String: String] = [:]
    var fault: String?
    var versions: [String] = []
    for (from, to) in edges {
      if next.updateValue(to, forKey: from) != nil {
        fault = "two versions come after \(from)"
      }
    }
    for version in alone + edges.flatMap({ [$0.0, $0.1] }) where !versions.contains(version) {
      versions.append(version)
    }
    self.next = next
    self.versions = versions
    self.fault = fault ?? Self.loop(in: next).map { "\($0) comes after itself" }
  }

  public init(nilLiteral: ()) { self.init([]) }

  public init(stringLiteral version: String) { self.init([], alone: [version]) }

  public init(arrayLiteral versions: String...) {
    self.init(Array(zip(versions, versions.dropFirst())), alone: versions)
  }

  public init(dictionaryLiteral edges: (String, String)...) { self.init(edges) }

  /// False if versions come after themselves, or two come after one.
  public var isValid: Bool { fault == nil }

  private static func loop(in next: [String: String]) -> String? {
    next.keys.sorted().first { start in
      var seen: Set = [start]
      var version = start
      while let following = next[version] {
        if !seen.insert(following).inserted { return true }
        version = following
      }
      return false
    }
  }

  /// The versions that none comes after.
  var leaves: [String] { versions.filter { next[$0] == nil } }

  /// The edges over which a version is reached.
  func edges(to current: String) -> [(from: String, to: String)] {
    var reached: Set = [current]
    var edges: [(from: String, to: String)] = []
    while let from = next.keys.sorted().first(where: {
      !reached.contains($0) && next[$0].map { reached.contains($0) } ?? false
    }), let to = next[from] {
      reached.insert(from)
      edges.append((from, to))
    }
    return edges
  }
}

extension MigrationChain: CustomStringConvertible {
  /// The chain as it is written: `nil`, `["V1", "V2"]` if each version leads to the next, or else `["V1": "V3", "V2": "V3"]`.
  public var description: String {
    if versions.isEmpty { return "nil" }
    let isList = zip(versions, versions.dropFirst()).allSatisfy { next[$0] == $1 }
    let parts =
      isList && next.count < versions.count
      ? versions.map { "\"\($0)\"" }
      : versions.compactMap { from in next[from].map { "\"\(from)\": \"\($0)\"" } }
    return "[\(parts.joined(separator: ", "))]"
  }
}
