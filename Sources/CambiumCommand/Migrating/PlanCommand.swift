import ArgumentParser
import Cambium

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Shows what a migration of a store would do.",
    discussion: """
      It writes nothing. A change that does not follow from the schema file, such as a string that becomes \
      a number, needs a step, in the program or in a file of steps. Without it, the plan shows what is \
      missing, and the status is 7.

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
    let refused = "The store cannot be migrated from version \(from) to \(to)"
    let rest = "Write the missing steps in a file (--steps), or migrate it with the program."
    let others = faults.filter { if case .rolledBack = $0 { false } else { true } }
    let detail = ErrorDetail(
      "\(ExitStatus.refused)", ["faults": .array(faults.map { .string("\($0)") })])
    if others.count == faults.count {
      return CommandFailure(.refused, "\(refused) with the given files. \(rest)", detail)
    }
    let advice = "\(refused) again after a rollback unless you use --after-rollback."
    return CommandFailure(.refused, others.isEmpty ? advice : "\(advice) \(rest)", detail)
  }

  var json: JSONValue {
    get throws {
      [
        "from": JSONValue(from), "to": JSONValue(to), "canRun": .boolean(canRun),
        "faults": .array(try faults.map { try JSONValue(describing: $0) }),
        "uncertainties": .array(try uncertain.map { try JSONValue(describing: $0) }),
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
              "deferralFaults": .array(
                try step.deferralFaults.map { try JSONValue(describing: $0) }),
              "changes": .array(try step.plannedChanges.map { try JSONValue(describing: $0) }),
            ]
          }),
      ]
    }
  }
}
