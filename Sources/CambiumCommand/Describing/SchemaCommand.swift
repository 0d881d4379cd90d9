import ArgumentParser
import Cambium

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Shows the schema of a version.",
    discussion: """
      The version is the store's own, or any that it has had. --diff shows the differences from another \
      version, and --lock those from the same version in a schema file; the status is 10 if there are any. \
      --step writes the skeleton of the step that migrates the version before to this one. With --lock, it \
      is the step from this version to the next one in the schema file.

      Example: cambium schema orders.cambium --version 2 --diff 1
      Example: cambium schema orders.cambium --step --lock Schema.lock
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: "The version to show. (default: the store's own)")
  var version: Int?

  @Option(help: "The form of the schema: \(SchemaForm.allNames).")
  var form = SchemaForm.swift

  @Option(help: "Show the changes since this version instead.")
  var diff: Int?

  @Option(help: "Show the differences from a schema file instead.", completion: .file())
  var lock: String?

  @Flag(help: "Write the skeleton of a step instead.")
  var step = false

  func validate() throws {
    if diff != nil, lock != nil || step {
      throw ValidationError("Only one of --diff, --lock and --step can be meant.")
    }
  }

  func run() throws {
    let schemas = try PersistentStore.inspect(
      at: arguments.store, lastCommits: 0, options: arguments.reading
    ).schemas
    let schema = try find(version, in: schemas)
    if let diff {
      try say(try find(diff, in: schemas).differences(to: schema, by: .number))
    } else if let lock {
      if step { return StandardOutput.write(try stepText(from: schema, to: lock)) }
      try say(try differences(of: schema, to: lock))
    } else if step {
      let old = try find(schema.version - 1, in: schemas)
      StandardOutput.write(StepText(from: old, to: schema).text)
    } else {
      StandardOutput.write(text(of: schema))
    }
  }

  private func find(_ version: Int?, in schemas: [Schema]) throws -> Schema {
    guard let version else {
      guard let schema = schemas.last else {
        throw CommandFailure(
          .notFound, "\(arguments.store) has no version: no program has put a model into it yet.")
      }
      return schema
    }
    guard let schema = schemas.first(where: { $0.version == version }) else {
      let versions = schemas.map { "\($0.version)" }.joined(separator: ", ")
      throw CommandFailure(.notFound, "The store never had version \(version); it had \(versions).")
    }
    return schema
  }

  private func text(of schema: Schema) -> String {
    if arguments.json { return "\(schema.json)\n" }
    return switch form {
    case .swift: SwiftText(schema).text
    case .text: "\(SchemaLock([schema]))"
    case .json: "\(schema.json)\n"
    }
  }

  private func differences(of schema: Schema, to path: String) throws -> [SchemaDifference] {
    let version = schema.version
    let lock = try SchemaLock(contentsOf: path)
    guard lock.contains(version: version) else {
      throw CommandFailure(.notFound, "\(path) has no version \(version).")
    }
    let described = try StoreModel(lock.filter { $0.number <= version }).schemas()
    return described.last.map { schema.differences(to: $0) } ?? []
  }

  /// The skeleton of the step to the next version of a schema file.
  private func stepText(from schema: Schema, to path: String) throws -> String {
    let described = try StoreModel(try SchemaLock(contentsOf: path)).schemas()
    guard let next = described.first(where: { $0.version > schema.version }) else {
      throw CommandFailure(.notFound, "\(path) has no version after \(schema.version).")
    }
    // The numbers of records and fields are those of the file.
    let old = described.first { $0.version == schema.version } ?? schema
    return StepText(from: old, to: next).text
  }

  private func say(_ differences: [SchemaDifference]) throws {
    if arguments.json {
      StandardOutput.line(
        "\(JSONValue.array(try differences.map { try JSONValue(describing: $0) }))")
    } else {
      for difference in differences { StandardOutput.line("\(difference)".inOneLine) }
    }
    if !differences.isEmpty {
      throw CommandFailure(.different, Figures.count(differences.count, "difference") + ".")
    }
  }
}

/// How a schema is written.
enum SchemaForm: String, CaseIterable, ExpressibleByArgument {
  /// As types and descriptions of a program.
  case swift
  /// As `Schema.lock` has it.
  case text
  case json

  static let allNames = allCases.map(\.rawValue).joined(separator: ", ")
}

extension Schema {
  var json: JSONValue {
    [
      "version": JSONValue(version), "label": JSONValue(label),
      "fingerprint": .string("\(fingerprint)"), "records": .array(records.map(\.json)),
    ]
  }
}

extension RecordSchema {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "fingerprint": .string("\(fingerprint)"),
      "fields": .array(
        declaredFields.map { field in
          [
            "name": .string(field.name), "type": .string("\(field.type)"),
            "optional": .boolean(field.isOptional),
            "default": field.defaultValue?.json ?? .null,
            "reference": field.reference?.json ?? .null,
            "userInfo": JSONValue(userInfo: field.userInfo),
            "derivation": field.derivation.map { .string("\($0)") } ?? .null,
          ]
        }),
      "key": .array(primaryKey.map { part in json(of: part) }),
      "indexes": .array(
        indexes.map { index in
          [
            "name": .string(index.name), "unique": .boolean(index.isUnique),
            "parts": .array(index.parts.map { part in json(of: part) }),
            "condition": JSONValue(index.condition.map { "\($0)" }),
          ]
        }),
      "expiry": expiryJSON,
      "inverses": .array(inverses.map(\.json)),
      "userInfo": JSONValue(userInfo: userInfo),
      "abstract": .boolean(isAbstract),
      "kinds": .array(
        kinds.map { ["name": .string(name(of: $0)), "abstract": .boolean($0.isAbstract)] }),
    ]
  }

  private var expiryJSON: JSONValue {
    guard let expiry else { return .null }
    let field = fields.first { $0.number == expiry.field }
    return ["field": JSONValue(field?.name), "seconds": JSONValue(expiry.seconds)]
  }

  private func json(of part: KeyPart) -> JSONValue {
    [
      "field": .string(name(of: part)), "descending": .boolean(part.isDescending),
      "caseInsensitive": .boolean(part.isCaseInsensitive),
      "collation": part.collation.map {
        ["name": .string($0.name), "version": .string($0.version)]
      } ?? .null,
      "expansion": JSONValue(part.expansion == .none ? nil : "\(part.expansion)"),
    ]
  }
}

extension JSONValue {
  fileprivate init(userInfo: [String: String]) {
    self = .object(userInfo.inOrder.map { Member(name: $0.key, value: .string($0.value)) })
  }
}

extension ReferenceSchema {
  fileprivate var json: JSONValue {
    [
      "to": .string(destination), "kind": JSONValue(kind), "checked": .boolean(isChecked),
      "deleteRule": .string("\(deleteRule)"), "count": JSONValue(bounds.map { "\($0)" }),
    ]
  }
}

extension InverseSchema {
  fileprivate var json: JSONValue {
    [
      "name": .string(name), "of": .string("\(related).\(reference)"),
      "deleteRule": .string("\(deleteRule)"), "count": JSONValue(bounds.map { "\($0)" }),
    ]
  }
}
