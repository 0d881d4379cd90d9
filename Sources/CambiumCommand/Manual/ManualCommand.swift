import ArgumentParser

struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Writes the manual page.",
    discussion: """
      It is made of what the commands say of themselves, in the form that man reads.

      Example: cambium manual | man -l -
      """)

  @Flag(help: "Write the statuses that the command ends with as JSON instead.")
  var json = false

  func run() throws {
    if json {
      let statuses = ExitStatus.allCases.map { status -> JSONValue in
        ["status": JSONValue(Int(status.rawValue)), "meaning": .string(status.meaning)]
      }
      return StandardOutput.line("\(JSONValue.array(statuses))")
    }
    let parsed = try JSONParser.parse(Array(RootCommand._dumpHelp().utf8))
    StandardOutput.write(ManualPage(parsed["command"] ?? .null).text)
  }
}
