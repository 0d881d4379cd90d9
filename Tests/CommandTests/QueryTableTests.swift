import Cambium
import FoundationEssentials
import TestSupport
import Testing

/// Queries of the command whose rows are more than records: groups, running values, records along a relation, unions.
@Suite struct QueryTableTests {
  private let stage: Stage
  private let path: String

  init() throws {
    stage = try Stage()
    path = stage.path("office.cambium")
    let store = try PersistentStore(at: path, model: Self.model)
    try store.write { transaction in
      for (id, name, city) in [(1, "Ada", "Ulm"), (2, "Bo", "Bonn"), (3, "Cy", "Ulm")] {
        try transaction.insert(Buyer(id: id, name: name, city: city))
      }
      for (id, name, city) in [(1, "Dot", "Bonn"), (2, "Bo", "Bonn"), (3, "Eve", nil)] {
        try transaction.insert(Seller(id: id, name: name, town: city))
      }
      for (id, buyer, total, day) in [
        (1, 1, 10, 1), (2, 2, 20, 2), (3, 1, 30, 40), (4, 3, 5, 45), (5, 1, 30, 60), (6, 2, 7, 70),
      ] {
        try transaction.insert(
          Sale(
            id: id, buyer: Reference(buyer), total: total, count: id % 2 + 1,
            date: Date(timeIntervalSinceReferenceDate: Double(day) * 86_400)))
      }
      for (id, parent) in [(1, nil), (2, 1), (3, 1), (4, 2), (5, 4)] as [(Int, Int?)] {
        try transaction.insert(
          Folder(id: id, name: "folder \(id)", parent: parent.map { Reference($0) }))
      }
    }
    try store.close()
  }

  /// The lines that a query writes as comma-separated values, or with --json.
  private func shown(_ arguments: String...) throws -> [String] {
    let form = arguments.contains("--json") ? [] : ["--csv"]
    let command = try Command.run(["query", path] + arguments + form)
    #expect(command.status == 0, "\(arguments): \(command.error)")
    return command.output.split { $0.isNewline }.map(String.init)
  }

  @Test func `groups by the month of a date have a sum of products, the highest first`() throws {
    #expect(
      try shown(
        "Sale", "--group", "date.month", "--sum", "total * count", "--order", "sum desc", "--limit",
        "2", "--json") == [
          #"{"date.month":3,"count()":2,"sum(total * count)":67}"#,
          #"{"date.month":2,"count()":2,"sum(total * count)":65}"#,
        ])
  }

  @Test func `groups meet a condition on what is computed of them`() throws {
    let header = "buyer.name,count(),sum(total)"
    for condition in [
      "sum > 20 && count >= 3", "sum(total) > 20 && count() >= 3", "sum / count > 20",
      "`buyer.name` == \"Ada\"", "buyer.name beginswith \"A\"", "distinct(date) == 3",
      "max(total) > (select average(total) from Sale) && min(id) == 1", "sum between 60 and 80",
    ] {
      #expect(
        try shown("Sale", "--group", "buyer.name", "--sum", "total", "--having", condition)
          == [header, "Ada,3,70"], "\(condition)")
    }
    #expect(
      try shown("Sale", "--sum", "total", "--having", "count > 6") == ["count(),sum(total)"])
  }

  @Test func `groups are sorted by their values, and by aggregates that are not shown`() throws {
    func names(_ order: String...) throws -> [String] {
      let arguments = ["query", path, "Sale", "--group", "buyer.name", "--csv"]
      let command = try Command.run(arguments + order.flatMap { ["--sort", $0] })
      #expect(command.status == 0, "\(order): \(command.error)")
      return command.output.split { $0.isNewline }.dropFirst().map {
        String($0.prefix { $0 != "," })
      }
    }
    #expect(try names() == ["Ada", "Bo", "Cy"])
    #expect(try names("-buyer.name") == ["Cy", "Bo", "Ada"])
    #expect(try names("buyer.name desc") == ["Cy", "Bo", "Ada"])
    #expect(try names("max(total)") == ["Cy", "Bo", "Ada"])
    #expect(try names("count, buyer.name desc") == ["Cy", "Bo", "Ada"])
    #expect(try names("-count", "sum(total) descending") == ["Ada", "Bo", "Cy"])
  }

  @Test func `records have running totals and ranks`() throws {
    #expect(
      try shown("Sale", "--fields", "id,total", "--sort", "date", "--running", "sum(total)") == [
        "id,total,sum(total)", "1,10,10", "2,20,30", "3,30,60", "4,5,65", "5,30,95", "6,7,102",
      ])
    #expect(
      try shown(
        "Sale", "--fields", "id", "--sort", "date", "--running", "sum(total), number", "--within",
        "buyer", "--having", "number == 2") == ["id,sum(total),number", "3,40,2", "6,27,2"])
    #expect(
      try shown(
        "Sale", "--fields", "id", "--sort", "total desc", "--running", "rank, denseRank",
        "--limit", "3", "--json") == [
          #"{"id":3,"rank":1,"denseRank":1}"#, #"{"id":5,"rank":1,"denseRank":1}"#,
          #"{"id":2,"rank":3,"denseRank":2}"#,
        ])
  }

  @Test func `records that a relation leads to come with their depths`() throws {
    #expect(
      try shown("Folder", "id == 1", "--along", "folders", "--fields", "id") == [
        "id,depth", "2,1", "3,1", "4,2", "5,3",
      ])
    #expect(
      try shown("Folder", "id == 1", "--along", "folders", "--fields", "id", "--depth", "1") == [
        "id,depth", "2,1", "3,1",
      ])
    #expect(
      try shown("Folder", "id == 5", "--along", "parent", "--fields", "id", "--offset", "1") == [
        "id,depth", "2,2", "1,3",
      ])
  }

  @Test func `queries of different types are one list`() throws {
    let sellers = "select name, town from Seller where town is not null"
    #expect(
      try shown("Buyer", "--fields", "name, city", "--union", sellers, "--sort", "name") == [
        "name,city", "Ada,Ulm", "Bo,Bonn", "Bo,Bonn", "Cy,Ulm", "Dot,Bonn",
      ])
    #expect(
      try shown(
        "Buyer", "--fields", "name, city", "--union", sellers, "--sort", "name desc", "--unique",
        "--offset", "1", "--limit", "2") == ["name,city", "Cy,Ulm", "Bo,Bonn"])
    #expect(try shown("Buyer", "--fields", "city", "--unique") == ["city", "Ulm", "Bonn"])
  }

  @Test func `expressions are shown, and sorted by`() throws {
    #expect(
      try shown(
        "Sale", "total > (select average(total) from Sale)", "--fields",
        "id, total * count, buyer.name", "--sort", "total * count desc", "--limit", "2") == [
          "id,total * count,buyer.name", "3,60,Ada", "5,60,Ada",
        ])
    #expect(
      try shown(
        "Buyer", "id in (select buyer from Sale sorted by total desc limit 2)", "--fields", "name")
        == ["name", "Ada"])
    #expect(try shown("Sale", "date.month == 3", "--fields", "id") == ["id", "5", "6"])
    #expect(
      try shown("Sale", "--sort", "date.month desc, id", "--fields", "id", "--limit", "3")
        == ["id", "5", "6", "3"])
  }

  @Test func `options that do not go together are refused, and names that are wrong`() throws {
    for wrong in [
      ["--having", "sum > 1"], ["--within", "buyer"], ["--depth", "1"], ["--along", "buyer"],
      ["--group", "buyer", "--running", "rank"], ["--running", "rank", "--count"],
      ["--along", "buyer", "--sort", "id"], ["--union", "select id from Buyer"],
      ["--fields", "id", "--union", "select id, name from Buyer"],
      ["--fields", "id", "--union", "select name from Buyer", "--sort", "id"],
      ["--fields", "id", "--union", "id from Buyer"], ["--running", "total"],
      ["--group", "buyer", "--having", "total > 1"], ["--group", "buyer", "--having", "sum > 1"],
      ["--group", "buyer", "--having", "sum(nothing) > 1"],
      ["--running", "rank", "--having", "id > 1"],
      ["--running=-sum(total)"], ["--running", "(sum(total) + 1)"],
      ["--fields", "id, total * nothing"],
    ] {
      let command = try Command.run(["query", path, "Sale"] + wrong)
      #expect(command.status == 2, "\(wrong): \(command)")
    }
  }
}

extension QueryTableTests {
  struct Buyer: Record, Identifiable {
    var id: Int
    var name: String
    var city: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "city", type: .string)
    }
  }

  struct Seller: Record, Identifiable {
    var id: Int
    var name: String
    var town: String?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "town", type: .string, optional: true)
    }
  }

  struct Sale: Record, Identifiable {
    var id: Int
    var buyer: Reference<Buyer>
    var total: Int
    var count: Int
    var date: Date

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "buyer", type: .reference(to: Buyer.self))
      Field(name: "total", type: .integer)
      Field(name: "count", type: .integer)
      Field(name: "date", type: .date)
    }
  }

  struct Folder: Record, Identifiable {
    var id: Int
    var name: String
    var parent: Reference<Folder>?
    static let folders = Inverse("folders", of: \Folder.parent)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "parent", type: .reference(to: Folder.self), optional: true)
      folders
    }
  }

  static let model = StoreModel(records: [Buyer.self, Seller.self, Sale.self, Folder.self])
}
