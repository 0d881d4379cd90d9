package import Cambium

/// The division of records over several servers: each has a part of their tables, by the hash of a field of the primary key.
///
///     order            partitioned, on the server of the address
///       order_1   ──▶  order_1, a table of the first server
///       order_2   ──▶  order_2, a table of the second
///
/// Records with equal values of their fields are on one server, also those of different records: an order divided by its key, and
/// its lines divided by their order. A reference from one to the other is checked there.
package struct Division: Sendable, Hashable, Codable {
  /// The addresses of the servers, without passwords, in the order of the parts.
  package let servers: [String]
  /// The fields by whose hashes records are divided, by the stored names of the records.
  package let fields: [String: String]

  /// - Parameters:
  ///   - addresses: URLs or connection strings of libpq, with host and database, and without a password.
  ///   - records: The names of records, each perhaps with a field of its primary key: `Line.order`. It is the first of them otherwise.
  /// - Throws: `MoveError.division`.
  package init(over addresses: [String], of records: [String], in schema: Schema)
    throws(MoveError)
  {
    guard !addresses.isEmpty, !records.isEmpty else {
      throw .division("It needs a server for each part, and a record that is divided.")
    }
    var servers: [String] = []
    for address in addresses { servers.append(try Self.canonical(address)) }
    guard Set(servers).count == servers.count else {
      throw .division("Two servers have the same address.")
    }
    self.servers = servers
    var fields: [String: String] = [:]
    for text in records {
      let (record, field) = try Self.parse(text, schema)
      if let reason = Self.obstacle(to: record, by: field) {
        throw .division("\(record.name) cannot be divided: \(reason).")
      }
      fields[record.name] = field.name
    }
    self.fields = fields
  }

  /// The parameters of an address that lead to a database.
  private static let parameters = ["host", "port", "dbname", "user"]

  /// An address with these parameters alone, always in the same form.
  private static func canonical(_ address: String) throws(MoveError) -> String {
    guard let found = Connection.parameters(of: address), found["host"] != nil,
      found["dbname"] != nil
    else { throw .division("\"\(address)\" is no address with a host and a database.") }
    guard found["password"] == nil else {
      throw .division(
        "The address of a server has a password, which would be kept in the database. Put it into .pgpass,"
          + " and into a user mapping of the foreign server that \"plan\" shows."
      )
    }
    return parameters.compactMap { name in
      found[name].map { value in
        let escaped = value.flatMap { "\\'".contains($0) ? "\\\($0)" : "\($0)" }
        return "\(name)='\(String(escaped))'"
      }
    }.joined(separator: " ")
  }

  private static func parse(
    _ text: String, _ schema: Schema
  ) throws(MoveError) -> (RecordSchema, FieldSchema) {
    let names = text.split(separator: ".", maxSplits: 1).map(String.init)
    guard let name = names.first, let record = schema.record(named: name) else {
      throw .division("There is no record \(text).")
    }
    let keys = record.primaryKey.compactMap { record.field($0.field) }
    let field = names.count == 1 ? keys.first : keys.first { $0.name == names[1] }
    guard let field else {
      throw .division(
        "\(name) can be divided by a field of its primary key: \(keys.map(\.name).joined(separator: ", "))."
      )
    }
    return (record, field)
  }

  private static func obstacle(to record: RecordSchema, by field: FieldSchema) -> String? {
    guard case .scalar = field.type else { return "\(field.name) is no single value" }
    for field in record.declaredFields {
      if case .external = field.type { return "\(field.name) is kept outside of its row" }
    }
    return nil
  }

  /// The parameters of the address of a server, by name.
  func parameters(ofServer number: Int) -> [String: String] {
    Connection.parameters(of: servers[number]) ?? [:]
  }

  /// The name of the foreign server in the database. It follows from the address, so it never leads elsewhere.
  func name(ofServer number: Int) -> String {
    let hash = SHA256.hash(Array(servers[number].utf8)).prefix(6)
    return "cambium_"
      + hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

/// The parts of a divided table.
package struct TableDivision: Sendable, Hashable {
  /// The column by whose hash it is divided.
  package let column: String
  /// The names of the parts, in the order of the servers.
  package let parts: [String]
}

extension PlanOptions {
  func isDivided(_ record: String) -> Bool { division?.fields[record] != nil }

  /// True if a list of checked references has a table of its own.
  func hasTable(_ list: FieldSchema, of record: RecordSchema) -> Bool {
    guard let reference = list.reference, reference.isChecked else { return false }
    return lists == .join && !isDivided(record.name) && !isDivided(reference.destination)
  }
}

extension TablePlan {
  /// The table of a part, as its server has it.
  func part(_ number: Int, in plan: PostgresPlan) -> TablePlan {
    var part = TablePlan(record: record, name: division?.parts[number] ?? name)
    part.columns = columns
    part.key = key
    part.checks = checks
    part.indexes = indexes.map { $0.named("\($0.name)_\(number + 1)") }
    part.foreignKeys = foreignKeys.map { key in
      let target = plan.tables.first { $0.name == key.table }?.division?.parts[number]
      return key.leading(to: target ?? key.table)
    }
    return part
  }
}

extension IndexPlan {
  fileprivate func named(_ name: String) -> IndexPlan {
    IndexPlan(
      number: number, name: name, isUnique: isUnique, isConstraint: isConstraint, method: method,
      parts: parts, condition: condition)
  }
}

extension ForeignKeyPlan {
  fileprivate func leading(to table: String) -> ForeignKeyPlan {
    ForeignKeyPlan(
      name: name, column: column, table: table, tableColumn: tableColumn, deletion: deletion)
  }
}
