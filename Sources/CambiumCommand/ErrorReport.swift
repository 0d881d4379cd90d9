import ArgumentParser
import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The message of an error, and the status that goes with it.
struct ErrorReport {
  private let status: ExitStatus
  private let message: String
  private let detail: ErrorDetail
  /// True if it is not an error, but the answer to a request such as --help.
  private let isAnswer: Bool

  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure:
      self.init(failure.status, failure.message.inOneLine, failure.detail)
    case let error as StoreError:
      self.init(ExitStatus(of: error), "\(error)".inOneLine, ErrorDetail(of: error))
    case let error as SchemaLockError:
      self.init(ExitStatus(of: error), "\(error)", ErrorDetail(of: error))
    case let error as StepFileError:
      self.init(ExitStatus(of: error), "\(error)".inOneLine, ErrorDetail(of: error))
    case let error as ConditionSyntaxError:
      self.init(.usage, "the condition, \(error)".inOneLine, ErrorDetail(of: error))
    case let error as JSONFault:
      self.init(.invalid, "\(error)".inOneLine, ErrorDetail(of: error))
    case let error as OutputFailure:
      self.init(.inputOutput, error.message.inOneLine, ErrorDetail("\(ExitStatus.inputOutput)"))
    default:
      let code = RootCommand.exitCode(for: error)
      let isAnswer = code == .success
      // Errors that are neither the parser's nor named above: the arguments are not to blame.
      guard isAnswer || code == .validationFailure else {
        self.init(.invalid, "\(error)".inOneLine, ErrorDetail(of: error))
        return
      }
      // For programs without the lines on how to use the command.
      let message =
        Self.isForPrograms && !isAnswer
        ? RootCommand.message(for: error) : RootCommand.fullMessage(for: error)
      self.init(
        isAnswer ? .good : .usage, message, ErrorDetail("\(ExitStatus.usage)"), isAnswer: isAnswer)
    }
  }

  private init(
    _ status: ExitStatus, _ message: String, _ detail: ErrorDetail, isAnswer: Bool = false
  ) {
    self.status = status
    self.message = message
    self.detail = detail
    self.isAnswer = isAnswer
  }

  /// Writes it to standard error, or an answer to standard output, and returns the status.
  func say() -> ExitStatus {
    if isAnswer {
      StandardOutput.write(message + "\n")
    } else if Self.isForPrograms {
      StandardError.line("\(json)")
    } else if !message.isEmpty {
      // The messages of the parser say that they are errors.
      let prefix = status == .usage && message.hasPrefix("Error:") ? "" : "cambium: "
      StandardError.line(prefix + message)
    }
    return status
  }

  /// True if the command was called with --json. The arguments themselves say so, since they may be what is wrong.
  private static let isForPrograms = CommandLine.arguments.prefix { $0 != "--" }.contains("--json")

  /// `{"error":{"case":"locked","status":3,"text":"…","parts":{"path":"orders.cambium","holder":17}}}`
  private var json: JSONValue {
    [
      "error": [
        "case": .string(detail.name), "status": JSONValue(Int(status.rawValue)),
        "text": .string(message), "parts": detail.parts,
      ]
    ]
  }
}

extension ExitStatus {
  init(of error: StoreError) {
    switch error {
    case .corrupt, .unsound, .nothingToSalvage: self = .fault
    case .newerFormat, .newerSchema: self = .newerFormat
    case .locked: self = .locked
    case .missing: self = .noStore
    case .io(let errno, _, _) where errno.rawValue == ENOTDIR: self = .noStore
    case .io, .full, .networkFileSystem, .poisoned, .outcomeUnknown: self = .inputOutput
    case .migrationCancelled: self = .interrupted
    case .unknownRecord, .invalidQuery: self = .usage
    case .noSuchRecord, .notKept, .historyExpired: self = .notFound
    case .invalidDescription, .schemaMismatch, .invalidValue, .unreadableRecord,
      .duplicateKey, .uniqueConflict, .staleRecord, .danglingReference, .deleteDenied,
      .relationCount, .limitExceeded, .stepFailed:
      self = .invalid
    default: self = .refused
    }
  }

  init(of error: SchemaLockError) {
    switch error {
    case .missing: self = .notFound
    case .io: self = .inputOutput
    default: self = .invalid
    }
  }

  init(of error: StepFileError) {
    switch error {
    case .missing: self = .notFound
    case .io: self = .inputOutput
    default: self = .invalid
    }
  }
}

/// An error of the command itself, in a sentence.
struct CommandFailure: Error {
  let status: ExitStatus
  let message: String
  /// For programs: the error of the library that the sentence tells of, or else the name of the status.
  let detail: ErrorDetail

  init(_ status: ExitStatus, _ message: String, _ detail: ErrorDetail? = nil) {
    self.status = status
    self.message = message
    self.detail = detail ?? ErrorDetail("\(status)")
  }

  static func interrupted(_ message: String) -> CommandFailure {
    CommandFailure(.interrupted, message)
  }

  /// The error for a name in the arguments that the store does not have.
  ///
  /// - Parameters:
  ///   - kind: "type", "field", "relation".
  ///   - owner: Where it was looked for: the name of a type, or the version.
  ///   - known: The names that exist there.
  static func unknown(
    _ kind: String, _ name: some StringProtocol, in owner: String, known: [String]
  ) -> CommandFailure {
    let names = known.joined(separator: ", ")
    let name = String(name.prefix(100))
    return CommandFailure(
      .usage,
      "\(owner) has no \(kind) \"\(name)\". "
        + (known.isEmpty ? "It has none." : "It has \(names)."),
      ErrorDetail(
        "unknown" + kind.prefix(1).uppercased() + kind.dropFirst(),
        ["name": .string(name), "known": .array(known.map { .string($0) })]))
  }
}
