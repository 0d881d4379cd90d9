#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The exit status of the command. The manual and the article on operations list all of them.
enum ExitStatus: Int32, CaseIterable {
  case good = 0
  case fault = 1
  case usage = 2
  case locked = 3
  case newerFormat = 4
  case noStore = 5
  case inputOutput = 6
  case refused = 7
  case notFound = 8
  case invalid = 9
  case different = 10
  case interrupted = 130

  var meaning: String {
    switch self {
    case .good: "It was done, and nothing is wrong."
    case .fault: "The store is damaged, or records were left out because of damage."
    case .usage:
      "The arguments are not valid: a wrong condition, or a type, field or relation that does not exist."
    case .locked: "Another process has the store open for writing."
    case .newerFormat: "The store was written by a newer version of Cambium, or has a newer schema."
    case .noStore: "There is no store at the path."
    case .inputOutput: "The system refused to read or write, or the disk is full."
    case .refused:
      "It was not done, because something would be lost or overwritten, or cannot be inferred."
    case .notFound: "The record, version or file does not exist."
    case .invalid: "The input is not valid: a schema file, an import or a value."
    case .different: "The versions or stores that were compared differ."
    case .interrupted: "It was interrupted, and the store is whole."
    }
  }

  func exit() -> Never { systemExit(rawValue) }
}
