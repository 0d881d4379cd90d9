import ArgumentParser
import Cambium

struct ExpireCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "Deletes the records that have expired.",
    discussion: """
      A program's model says when the records of a type expire; cambium schema shows it. Delete rules apply, and records stay whose deletion \
      others deny. Hooks belong to the program, and do not run. If a collection is interrupted, its work so far is kept.

      Example: cambium expire sessions.cambium
      """)

  @OptionGroup var arguments: StoreArguments

  func run() throws {
    let store = try arguments.openKeepingHistory()
    do {
      let report = try store.collectExpired()
      try store.close()
      say(report)
    } catch {
      try? store.close()
      throw error
    }
  }

  private func say(_ report: ExpiryReport) {
    if arguments.json {
      let json: JSONValue = [
        "deleted": JSONValue(report.deleted), "kept": JSONValue(report.kept),
        "refusals": .array(
          report.refusals.map {
            [
              "record": .string($0.record), "key": .string($0.key),
              "reason": .string("\($0.error)"),
            ]
          }),
      ]
      return StandardOutput.line("\(json)")
    }
    StandardOutput.line("\(report)")
    for refusal in report.refusals {
      StandardOutput.line("\(refusal.record) \(refusal.key): \(refusal.error)")
    }
  }
}
