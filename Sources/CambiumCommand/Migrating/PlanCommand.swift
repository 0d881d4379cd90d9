import ArgumentParser
import Cambium

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Says what migrating a store would do.",
    discussion: """
      Nothing is written. What does not follow from the schema file, such as a string that becomes a number, is said in \
      a step, by a program or by a file of steps: else the plan says what is missing, and ends with status 7.

      Example: cambium plan orders.cambium --schema Schema.lock --steps Steps.json
      """)

  @OptionGroup var arguments: StoreArguments
  @OptionGroup var schema: SchemaArguments

  func run() throws {
    let plan = try schema.migration(for: arguments).plan
    StandardOutput.line(arguments.json ? "\(try plan.json)" : "\(plan)")
    if !plan.canRun { throw plan.refusal }
  }
}

extension MigrationPlan {
  var refusal: CommandFailure {
    let refused = "It cannot be migrated from version \(from) to \(to)"
    let rest = "Say the rest in a file of steps, or migrate it with the program."
    let others = faults.filter { if case .rolledBack = $0 { false } else { true } }
    let detail = ErrorDetail(
      "\(ExitStatus.refused)", ["faults": .array(faults.map { .string("\($0)") })])
    if others.count == faults.count {
      return CommandFailure(.refused, "\(refused) by what the files say. \(rest)", detail)
    }
    let advice = "\(refused) again after a rollback unless you say --after-rollback."
    return CommandFailure(.refused, others.isEmpty ? advice : "\(advice) \(rest)", detail)
  }

  var json: JSONValue {
    get throws {
      [
        "from": JSONValue(from), "to": JSONValue(to), "canRun": .boolean(canRun),
        "faults": .array(try faults.map { try JSONValue(describing: $0) }),
        "uncertainties": .array(try uncertainties.map { try JSONValue(describing: $0) }),
        "work": .array(try work.map { try JSONValue(describing: $0) }),
        "records": JSONValue(records), "bytesToRead": JSONValue(bytesToRead),
        "bytesToWrite": JSONValue(bytesToWrite), "blobBytesToWrite": JSONValue(blobBytesToWrite),
        "logBytesToGrow": JSONValue(logBytesToGrow),
        "bytesFree": bytesFree.map { JSONValue($0) } ?? .null,
        "estimatedSeconds": JSONValue(estimatedTime / .seconds(1)),
        "steps": .array(
          try steps.map { step in
            [
              "from": JSONValue(step.from), "to": JSONValue(step.to),
              "label": JSONValue(step.label),
              "deferrable": .boolean(step.isDeferrable),
              "changes": .array(try step.changes.map { try JSONValue(describing: $0) }),
            ]
          }),
      ]
    }
  }
}
