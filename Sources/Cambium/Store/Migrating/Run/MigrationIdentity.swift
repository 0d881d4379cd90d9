extension MigrationTasks {
  /// A hash of the versions and of all that is to be done. Closures take part with the revisions of their steps.
  var identity: SipHash128 {
    var bytes: [UInt8] = []
    bytes.append(route.from.fingerprint.hash)
    for hop in route.hops {
      bytes.append(integer: hop.change.to.version)
      bytes.append(hop.change.to.fingerprint.hash)
      bytes.append(text: hop.step?.text ?? "")
      bytes.append(integer: Int64(hop.step?.revision ?? 0))
      for record in hop.change.records { bytes.append(record) }
      for line in hop.emitted { bytes.append(text: line) }
    }
    for task in tasks { bytes.append(text: task.text) }
    for name in made { bytes.append(text: name) }
    return SipHash128(of: bytes.rawSpan)
  }
}

extension [UInt8] {
  /// Appends where each field's values come from, and what it has without one.
  fileprivate mutating func append(_ change: RecordChange) {
    append(integer: change.new.number)
    for field in change.fields {
      append(integer: field.new.number)
      append(integer: field.old?.number ?? 0)
      append(text: field.missing.literal)
      append(text: change.sources[field.new.number]?.definition ?? "")
    }
  }
}

extension FieldSource {
  fileprivate var definition: String {
    switch self {
    case .value: "by"
    case .record: "from"
    case .field(let name): "path \(name)"
    case .conversion(.refuse): "refuse"
    case .conversion(.replace(let value)): "replace \(value.literal)"
    case .conversion(.setAside): "set aside"
    }
  }
}

extension MigrationRoute.Hop {
  /// The rules and defaults of the records that closures emit.
  fileprivate var emitted: [String] {
    var lines: [String] = []
    for target in (step?.transforms ?? []).flatMap(\.targets) {
      let name = target.name(in: Int(change.to.version))
      lines.append(name)
      for field in described.record(named: name)?.fields ?? [] {
        let value = field.migrationDefault ?? field.defaultValue
        lines.append("\(field.name) \(value?.literal ?? "")")
        lines += field.rules.map(\.text)
      }
    }
    return lines
  }
}
