import ArgumentParser
import Cambium
import Glibc

/// What is said of an error, and the status that goes with it.
struct ErrorReport {
  private let status: ExitStatus
  private let message: String
  /// Whether it is what was asked for, such as help.
  private let isAnswer: Bool

  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure:
      self.init(failure.status, failure.message.inOneLine)
    case let error as StoreError:
      self.init(ExitStatus(of: error), "\(error)".inOneLine)
    case let error as SchemaLockError:
      self.init(ExitStatus(of: error), "\(error)")
    case let error as StepFileError:
      self.init(ExitStatus(of: error), "\(error)".inOneLine)
    case let error as ConditionSyntaxError:
      self.init(.usage, "the condition, \(error)".inOneLine)
    case let error as JSONFault:
      self.init(.invalid, "\(error)".inOneLine)
    case let error as OutputFailure:
      self.init(.inputOutput, error.message.inOneLine)
    default:
      let isAnswer = RootCommand.exitCode(for: error) == .success
      self.init(isAnswer ? .good : .usage, RootCommand.fullMessage(for: error), isAnswer: isAnswer)
    }
  }

  private init(_ status: ExitStatus, _ message: String, isAnswer: Bool = false) {
    self.status = status
    self.message = message
    self.isAnswer = isAnswer
  }

  /// Says it where it belongs, and returns the status.
  func say() -> ExitStatus {
    if isAnswer {
      StandardOutput.write(message + "\n")
    } else if !message.isEmpty {
      // What the parser says names the error itself.
      let prefix = status == .usage && message.hasPrefix("Error:") ? "" : "cambium: "
      StandardError.line(prefix + message)
    }
    return status
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
    case .unknownRecord, .noSuchRecord, .notKept, .historyExpired: self = .notFound
    case .invalidDescription, .schemaMismatch, .invalidValue, .invalidQuery, .unreadableRecord,
      .duplicateKey, .uniqueConflict, .staleRecord, .danglingReference, .deleteDenied,
      .relationCount, .limitExceeded, .stepFailed:
      self = .invalid
    default: self = .refused
    }
  }

  init(of error: SchemaLockError) {
    switch error {
    case .missing, .io: self = .inputOutput
    default: self = .invalid
    }
  }

  init(of error: StepFileError) {
    switch error {
    case .missing, .io: self = .inputOutput
    default: self = .invalid
    }
  }
}

/// Why a command cannot do what it was asked for, in a sentence.
struct CommandFailure: Error {
  let status: ExitStatus
  let message: String

  init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }

  static func interrupted(_ message: String) -> CommandFailure {
    CommandFailure(.interrupted, message)
  }
}
