import Cambium

/// The records, and the values of the metadata, that a copy or an export leaves out.
///
/// A damaged page can hold hundreds of records. So people read one line for each type, or for each type and reason, with the
/// first keys and the first reason, and a line for each record only with --verbose. Programs read all of them in JSON.
final class LeftOutRecords {
  private let isVerbose: Bool
  private let isForPrograms: Bool
  /// For people: the records of each type, by the order in which the first of each was left out.
  private var summaries: [Summary] = []
  /// For programs: an object for each record.
  private var leftOut: [JSONValue] = []
  private var lost: [JSONValue] = []
  private(set) var count = 0

  convenience init(_ options: SkipDamagedArguments, _ arguments: StoreArguments) {
    self.init(isVerbose: options.verbose, arguments)
  }

  init(isVerbose: Bool, _ arguments: StoreArguments) {
    self.isVerbose = isVerbose
    isForPrograms = arguments.json
  }

  /// Notes a record that cannot be read.
  func add(_ skipped: SkippedRecord) {
    add(of: skipped.record, skipped.key, skipped.offset + 1, skipped.error)
  }

  /// Notes a record whose key can be read, but not all of its values.
  func add(_ record: DynamicRecord, of shape: RecordShape, _ error: any Error) {
    let key = shape.key.map { "\(record[$0.name].literal)" }.joined(separator: ", ")
    add(of: shape.name, key, nil, error)
  }

  /// Notes a value of the metadata.
  func add(valueUnder name: String, _ error: any Error) { add(of: nil, name, nil, error) }

  /// - Parameters:
  ///   - type: The record's type; nil for a value of the metadata.
  ///   - key: The primary key as text; nil if it cannot be read either.
  ///   - number: The place in the order of keys, from 1.
  private func add(of type: String?, _ key: String?, _ number: Int?, _ error: any Error) {
    count += 1
    if isForPrograms {
      leftOut.append([
        "record": JSONValue(type), "key": JSONValue(key),
        "number": number.map { JSONValue($0) } ?? .null, "error": .string("\(error)"),
      ])
      return
    }
    let key = key ?? number.map { "number \($0)" } ?? "?"
    if isVerbose {
      say("left out \(type ?? "the value under") \(key): \(error.withoutAdvice)")
    }
    note(key, of: .unreadable(type, nil), error.withoutAdvice)
  }

  /// Notes a record that was read, and is not in the copy.
  func add(_ omission: SalvageReport.Omission) {
    count += 1
    if isVerbose {
      say("left out \(omission.record) \(omission.key): \(omission.error.withoutAdvice)")
    }
    note(
      omission.key, of: .unreadable(omission.record, omission.error.rule),
      omission.error.withoutAdvice)
  }

  /// Notes a record that does not exist in the copy, and to which others lead.
  func add(_ missing: SalvageReport.MissingRecord) {
    if isForPrograms {
      lost.append(["record": .string(missing.record), "key": .string(missing.key)])
      return
    }
    if isVerbose { say("\(missing)") }
    note(missing.key, of: .lost(missing.record), nil)
  }
}

// MARK: - For people

extension LeftOutRecords {
  private enum Subject: Hashable {
    /// Records of a type that break the same rule, if that is known; without a type, values of the metadata.
    case unreadable(String?, String?)
    /// Records of a type to which others lead.
    case lost(String)
  }

  /// Records of one type.
  private struct Summary: CustomStringConvertible {
    let subject: Subject
    let firstCause: String?
    var count = 0
    var firstKeys: [String] = []

    private static var keysMax: Int { 3 }
    private static var keyLengthMax: Int { 100 }

    init(_ subject: Subject, _ firstCause: String?) {
      self.subject = subject
      self.firstCause = firstCause
    }

    mutating func add(_ key: String) {
      count += 1
      if firstKeys.count < Self.keysMax { firstKeys.append(String(key.prefix(Self.keyLengthMax))) }
    }

    var description: String {
      let cause = firstCause.map { count == 1 ? ": \($0)" : ". The first: \($0)" } ?? "."
      return switch subject {
      case .unreadable(let type?, _):
        "left out \(Figures.count(count, "record")) of \(type): \(keys)\(cause)"
      case .unreadable(nil, _):
        "left out \(Figures.count(count, "value")) of the metadata: \(keys)\(cause)"
      case .lost(let type):
        "\(Figures.count(count, "record")) of \(type) \(count == 1 ? "is" : "are") lost, and others lead to"
          + " \(count == 1 ? "it" : "them"): \(keys)."
      }
    }

    private var keys: String {
      let more = count - firstKeys.count
      let first = firstKeys.joined(separator: ", ")
      return more > 0 ? "\(first) and \(Figures.count(more)) more" : first
    }
  }

  private func note(_ key: String, of subject: Subject, _ cause: String?) {
    let place = summaries.firstIndex { $0.subject == subject } ?? summaries.endIndex
    if place == summaries.endIndex { summaries.append(Summary(subject, cause)) }
    summaries[place].add(key)
  }

  private func say(_ text: String) { StandardError.line("cambium: \(text.inOneLine)") }

  private static func advice(isVerbose: Bool) -> String {
    "If there is a backup, `cambium diff` shows what only it has."
      + (isVerbose ? "" : " --verbose names each record that was left out.")
  }
}

extension LeftOutRecords {
  /// The members of an answer in JSON.
  var json: [JSONValue.Member] {
    [
      .init(name: "skipped", value: JSONValue(count)),
      .init(name: "left_out", value: .array(leftOut)), .init(name: "lost", value: .array(lost)),
    ]
  }

  /// Tells people what was left out, in a line for each type and reason.
  func sayAll() {
    for summary in summaries { say("\(summary)") }
  }

  /// Ends the command after its answer: sums up for people what was left out.
  ///
  /// - Parameter isInAnswer: False if there was no answer in JSON, so that the error has the records for programs.
  /// - Throws: `CommandFailure` if anything was left out.
  func check(isInAnswer: Bool = true) throws {
    sayAll()
    if count == 0 { return }
    let sentence =
      "\(Figures.count(count, "record")) could not be read and \(count == 1 ? "was" : "were") left out."
    if !isForPrograms {
      throw CommandFailure(.fault, "\(sentence) \(Self.advice(isVerbose: isVerbose))")
    }
    throw CommandFailure(
      .fault, sentence,
      ErrorDetail("\(ExitStatus.fault)", isInAnswer ? [:] : .object(json)))
  }
}

extension StoreError {
  /// The rule that a record breaks, in the same words for all records that break it.
  fileprivate var rule: String {
    switch self {
    case .corrupt(_, let invariant, _): "\(invariant)"
    case .uniqueConflict(_, let constraint, _): constraint
    case .invalidValue(_, let field, _): field ?? ""
    default: ""
    }
  }
}

extension Error {
  /// The error in a sentence, without the advice to copy what can be read, which is being done.
  fileprivate var withoutAdvice: String {
    guard case .corrupt(let place, let invariant, let reason)? = self as? StoreError else {
      return "\(self)"
    }
    return "\(place) is damaged (\(invariant)): \(reason)."
  }
}
