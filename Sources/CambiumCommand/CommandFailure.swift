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
