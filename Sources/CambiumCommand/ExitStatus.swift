import Glibc

/// The status that the command ends with. The manual and the article on operations list all of them.
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
    case .good: "It is done, and nothing is wrong."
    case .fault: "Damage was found in the store, or records were left out because of it."
    case .usage: "The arguments cannot be understood."
    case .locked: "Another process has the store open for writing."
    case .newerFormat: "The store was written by a newer version of Cambium, or has a newer schema."
    case .noStore: "There is no store at the path."
    case .inputOutput: "The system refused to read or write, or the disk is full."
    case .refused:
      "It was not done, since something would be lost or overwritten, or it cannot be inferred."
    case .notFound: "The record, type or version that was asked for is not there."
    case .invalid:
      "What was given to read is not what it should be: a schema file, an import, a value."
    case .different: "Versions that were compared differ."
    case .interrupted: "It was interrupted, and the store is whole."
    }
  }

  func exit() -> Never { Glibc.exit(rawValue) }
}
