import ArgumentParser
import Cambium

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Looks for damage, and says where it is.",
    discussion: """
      It reads the log, the footers and every page of the current state. A deep check also reads every \
      record, compares all indexes with the records, and reads the history and the states from before \
      migrations. The status is 1 if anything is wrong.

      Example: cambium check --deep orders.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Also compare records with indexes, and read the history and old versions.")
  var deep = false

  func run() throws {
    let bar = ProgressBar()
    let check: StoreCheck
    do {
      defer { bar.end() }
      check = try PersistentStore.check(
        at: arguments.store, deep ? .deep : .quick, options: arguments.reading
      ) { progress in
        bar.show(progress.fraction, progress.text)
      }
    }
    if arguments.json {
      StandardOutput.line("\(check.json)")
    } else {
      for line in check.lines { StandardOutput.line(line) }
    }
    if !check.isWhole {
      throw CommandFailure(
        .fault, "\(arguments.store): \(Figures.count(check.faults.count, "fault")).")
    }
  }
}

extension StoreCheck.Progress {
  fileprivate var fraction: Double { total == 0 ? 1 : Double(done) / Double(total) }

  fileprivate var text: String {
    switch part {
    case .pages: "pages, \(Figures.size(done)) of \(Figures.size(total))"
    case .records: "records, \(Figures.count(done)) of \(Figures.count(total))"
    case .keptPages: "kept pages, \(Figures.size(done))"
    }
  }
}

extension StoreCheck {
  fileprivate var lines: [String] {
    if isWhole {
      // A store whose commits are all in the log has no nodes.
      let commit = sequence.map { " through commit \(Figures.count($0))" } ?? ""
      let records = depth == .deep ? ", \(Figures.count(recordCount, "record"))" : ""
      return [
        Style.green("No faults")
          + "\(commit): \(Figures.count(nodeCount, "node"))\(records) checked."
      ]
    }
    return faults.map { fault in
      let version = keptVersion(of: fault).map { "the kept version \($0) only: " } ?? ""
      let place = version + (tree(of: fault).map { "\($0): " } ?? "")
      return Style.red("fault") + "  " + "\(place)\(fault)".inOneLine
    }
  }

  fileprivate var json: JSONValue {
    [
      "depth": .string(depth.rawValue),
      "isWhole": .boolean(isWhole),
      "sequence": sequence.map { JSONValue($0) } ?? .null,
      "nodes": JSONValue(nodeCount),
      "records": JSONValue(recordCount),
      "faults": .array(
        faults.map { fault -> JSONValue in
          let detail = ErrorDetail(of: fault)
          return [
            "text": .string("\(fault)"), "in": JSONValue(tree(of: fault)),
            "keptVersion": keptVersion(of: fault).map { JSONValue($0) } ?? .null,
            "case": .string(detail.name), "parts": detail.parts,
          ]
        }),
    ]
  }
}
