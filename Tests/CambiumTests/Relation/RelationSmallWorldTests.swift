import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Three records and two relations: every delete rule of both ends, every graph of up to four references, every deletion.
@Suite struct RelationSmallWorldTests {
  /// A world's records by their kinds, and the kinds that its relations lead from and to.
  private struct Layout {
    let kindOfRecord: [Int]
    let relations: [(owner: Int, destination: Int)]
    /// The records to delete, one at a time.
    let deleted: [Int]

    var kindCount: Int { (kindOfRecord.max() ?? 0) + 1 }
  }

  private typealias Shape = RelatedKinds.Link.Shape

  /// A reference from one record to another, by one of the relations.
  private struct Edge {
    let relation: Int
    let from: Int
    let to: Int
  }

  private struct Undo: Error {}

  private static let rules: [DeleteRule] = [.nullify, .cascade, .deny]

  @Test(arguments: [
    [Shape.list, .list], [.optional, .list], [.optional, .optional], [.required, .optional],
    [.required, .list], [.required, .required],
  ])
  func `three records of one type, two relations among them`(
    shapes: [RelatedKinds.Link.Shape]
  ) throws {
    // One record is enough: every other deletion is this one of the graph with two records exchanged.
    let layout = Layout(
      kindOfRecord: [0, 0, 0], relations: [(0, 0), (0, 0)], deleted: [1])
    try run([layout], shapes)
  }

  @Test(arguments: [
    [Shape.list, .list], [.list, .optional], [.optional, .optional], [.required, .list],
    [.optional, .required],
  ])
  func `three records of two or three types, two relations from any to any`(
    shapes: [RelatedKinds.Link.Shape]
  ) throws {
    var layouts: [Layout] = []
    // Of two records of one type one is enough, as above.
    for (kindOfRecord, deleted) in [([0, 0, 1], [0, 2]), ([0, 1, 2], [0, 1, 2])] {
      let count = kindOfRecord[2] + 1
      for pair in 0..<count * count * count * count {
        let ends = [
          pair % count, pair / count % count, pair / count / count % count,
          pair / count / count / count,
        ]
        // With types exchanged that have a record each, it is another of these.
        if count == 3, !Self.isInOrder(ends) { continue }
        layouts.append(
          Layout(
            kindOfRecord: kindOfRecord, relations: [(ends[0], ends[1]), (ends[2], ends[3])],
            deleted: deleted))
      }
    }
    try run(layouts, shapes)
  }

  /// Returns true if each number comes first behind all smaller ones.
  private static func isInOrder(_ numbers: [Int]) -> Bool {
    var next = 0
    for number in numbers {
      if number > next { return false }
      next = max(next, number + 1)
    }
    return true
  }

  private func run(_ layouts: [Layout], _ shapes: [Shape]) throws {
    var count = 0
    for layout in layouts {
      for number in 0..<81 where scaled(0, debug: number % 4) == 0 {
        let rules = [number % 3, number / 3 % 3, number / 9 % 3, number / 27].map {
          Self.rules[$0]
        }
        let kinds = Self.kinds(layout, shapes, rules)
        do {
          count += try Self.run(kinds, layout, shapes)
        } catch {
          Issue.record("\(kinds): \(error)")
          return
        }
      }
    }
    print("small relations, \(shapes): \(count.grouped) deletions")
    #expect(count > scaled(10_000, debug: 100))
  }

  /// - Parameter rules: The rules of the other end and of its own, of each relation; `.nullify` of the other end is `.deny` if
  ///   the reference cannot be cut, as where no other end is described.
  private static func kinds(
    _ layout: Layout, _ shapes: [Shape], _ rules: [DeleteRule]
  ) -> RelatedKinds {
    var kinds = RelatedKinds(
      kinds: (0..<layout.kindCount).map {
        RelatedKinds.Kind(name: "K\($0)", key: .number(.integer))
      },
      links: (0..<layout.kindCount).map { _ in [] })
    for (place, relation) in layout.relations.enumerated() {
      var link = RelatedKinds.Link(
        name: "r\(place)", owner: relation.owner, destination: relation.destination,
        shape: shapes[place])
      let rule = rules[place * 2]
      link.ownRule = rules[place * 2 + 1]
      if rule != .nullify || shapes[place] != .required && link.ownRule == .cascade {
        link.inverse = RelatedKinds.Inverse(name: "i\(place)", rule: rule)
      }
      kinds.links[relation.owner].append(link)
    }
    return kinds
  }

  /// The number of deletions tried.
  private static func run(
    _ kinds: RelatedKinds, _ layout: Layout, _ shapes: [Shape]
  ) throws -> Int {
    let store = try PersistentStore(inMemory: kinds.model)
    var count = 0
    do {
      try store.write { transaction in
        let graphs = graphs(layout, shapes)
        for place in stride(from: 0, to: graphs.count, by: scaled(1, debug: min(61, graphs.count)))
        {
          let graph = graphs[place]
          do {
            try transaction.savepoint { transaction in
              let world = try fill(&transaction, kinds, layout, graph)
              for record in layout.deleted {
                count += 1
                let site = RelationOracle.Site(kind: layout.kindOfRecord[record], key: record)
                try delete(site, from: world, &transaction)
              }
              throw Undo()
            }
          } catch is Undo {}
        }
        throw Undo()
      }
    } catch is Undo {}
    try store.close()
    return count
  }

  private static func fill(
    _ transaction: inout WriteTransaction, _ kinds: RelatedKinds, _ layout: Layout, _ graph: [Edge]
  ) throws -> RelationOracle {
    var rows: [[Int: RelationOracle.Row]] = kinds.kinds.map { _ in [:] }
    for record in 0..<3 {
      let kind = layout.kindOfRecord[record]
      let targets = kinds.links[kind].map { link -> [Int]? in
        let ends = graph.filter { "r\($0.relation)" == link.name && $0.from == record }.map(\.to)
        return ends.isEmpty && !link.isList ? nil : ends
      }
      let row = RelationOracle.Row(targets: targets, code: nil, note: record)
      rows[kind][record] = row
      try transaction.save(kinds.record(record, row, of: kind))
    }
    return RelationOracle(kinds, rows)
  }

  private static func delete(
    _ site: RelationOracle.Site, from world: RelationOracle, _ transaction: inout WriteTransaction
  ) throws {
    var world = world
    _ = world.perform(.delete(kind: site.kind, keys: [site.key]))
    let expected = world.faults
    let kinds = world.kinds
    do {
      try transaction.savepoint { transaction in
        let name = kinds.kinds[site.kind].name
        let error = storeError { () throws(StoreError) in
          try transaction.delete(
            record: name, key: kinds.keyValues(site.key, of: site.kind)[0])
          try transaction.writer.keeper?.check()
        }
        try agree(
          error.map(expected.contains) ?? expected.isEmpty,
          "\(site) in \(world.rows): \(String(describing: error)), expected \(expected)")
        for (kind, rows) in world.rows.enumerated() {
          let found = try transaction.fetch(record: kinds.kinds[kind].name)
          let records = rows.sorted { $0.key < $1.key }.map {
            kinds.record($0.key, $0.value, of: kind)
          }
          try agree(found == records, "after \(site): \(found), expected \(records)")
        }
        throw Undo()
      }
    } catch is Undo {}
  }

  /// Every set of at most four references that records of these shapes can have; required ones are counted, too, but are
  /// as many as there have to be.
  private static func graphs(_ layout: Layout, _ shapes: [Shape]) -> [[Edge]] {
    var graphs: [[Edge]] = [[]]
    for (place, relation) in layout.relations.enumerated() {
      let owners = (0..<3).filter { layout.kindOfRecord[$0] == relation.owner }
      let ends = (0..<3).filter { layout.kindOfRecord[$0] == relation.destination }
      for owner in owners {
        var choices: [[Int]] = []
        for mask in 0..<1 << ends.count {
          let chosen = ends.indices.filter { mask >> $0 & 1 == 1 }.map { ends[$0] }
          switch shapes[place] {
          case .required where chosen.count != 1: continue
          case .optional where chosen.count > 1: continue
          default: choices.append(chosen)
          }
        }
        graphs = graphs.flatMap { graph in
          choices.map { chosen in
            graph + chosen.map { Edge(relation: place, from: owner, to: $0) }
          }
        }
      }
    }
    let least = zip(layout.relations, shapes).filter { $0.1 == .required }.reduce(0) { sum, pair in
      sum + layout.kindOfRecord.count { $0 == pair.0.owner }
    }
    return graphs.filter { $0.count <= max(4, least) }
  }
}
