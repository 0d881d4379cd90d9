import ArgumentParser
import Cambium

/// The manual page, in the language of man, from the parser's description of itself.
struct ManualPage {
  private(set) var text = ".TH CAMBIUM 1\n"

  /// - Parameter command: The root, as the parser describes it.
  init(_ command: JSONValue) {
    section("NAME")
    line("cambium \\- \(command.words("abstract").inRoff)")
    section("SYNOPSIS")
    line(".B cambium")
    line("\\fIcommand\\fR [\\fIargument\\fR ...]")
    section("DESCRIPTION")
    paragraphs(command.words("discussion"))
    section("COMMANDS")
    for subcommand in command.list("subcommands") where subcommand.words("commandName") != "help" {
      guard subcommand["shouldDisplay"] == .boolean(true) else { continue }
      let inner = subcommand.list("subcommands").filter { $0.words("commandName") != "help" }
      if inner.isEmpty { add(subcommand) }
      for command in inner { add(command, of: subcommand.words("commandName") + " ") }
    }
    section("EXIT STATUS")
    for status in ExitStatus.allCases { item("\(status.rawValue)", status.meaning) }
    section("ERRORS")
    paragraphs(
      """
      An error is a sentence on standard error. With --json it is a line of JSON there, with the name of the error's \
      case, the status, the sentence, and the values of the case:
      {"error":{"case":"locked","status":3,"text":"...","parts":{"path":"orders.cambium","holder":17}}}
      """)
    section("ENVIRONMENT")
    item(
      "NO_COLOR",
      "If it is set, output has no colours. Output to a pipe never has any.")
    section("SHELL COMPLETION")
    paragraphs(
      "cambium --generate-completion-script bash writes a completion script; zsh and fish work too."
    )
  }

  /// - Parameter parent: The name of the command that it is a subcommand of, and a space.
  private mutating func add(_ command: JSONValue, of parent: String = "") {
    let arguments = command.list("arguments").filter { $0["shouldDisplay"] == .boolean(true) }
      .filter { !($0.isFlag && ["help", "version"].contains($0.words("valueName"))) }
    line(
      ".SS cambium \(parent)\(command.words("commandName")) \(arguments.map(\.usage).joined(separator: " "))"
    )
    paragraphs(command.words("abstract"))
    paragraphs(command.words("discussion"))
    for argument in arguments { item(argument.title, argument.words("abstract")) }
  }

  private mutating func line(_ text: String) { self.text += text + "\n" }
  private mutating func section(_ name: String) { line(".SH \(name)") }

  private mutating func item(_ title: String, _ text: String) {
    line(".TP\n.B \(title.inRoff)\n\(text.inRoff)")
  }

  private mutating func paragraphs(_ text: String) {
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: true) {
      line(".PP\n\(String(paragraph).inRoff)")
    }
  }
}

// MARK: The parser's description

extension JSONValue {
  fileprivate func words(_ name: String) -> String { self[name]?.text ?? "" }

  fileprivate func list(_ name: String) -> [JSONValue] {
    if case .array(let values) = self[name] { values } else { [] }
  }

  fileprivate var isFlag: Bool { words("kind") == "flag" }
  private var isPositional: Bool { words("kind") == "positional" }

  /// "--limit", "-o, --output".
  private var names: [String] {
    list("names").map { name in
      (name.words("kind") == "short" ? "-" : "--") + name.words("name")
    }.sorted { $0.utf8.count < $1.utf8.count }
  }

  fileprivate var title: String {
    if isPositional { return "<\(words("valueName"))>" }
    return names.joined(separator: ", ") + (isFlag ? "" : " <\(words("valueName"))>")
  }

  fileprivate var usage: String {
    let text =
      isPositional ? title : (names.last ?? "") + (isFlag ? "" : " <\(words("valueName"))>")
    return self["isOptional"] == .boolean(true) ? "[\(text)]".inRoff : text.inRoff
  }
}

extension String {
  /// The text, with characters that man would act on escaped.
  fileprivate var inRoff: String {
    var text = ""
    for character in self {
      switch character {
      case "\\": text += "\\e"
      case "-": text += "\\-"
      default: text.append(character)
      }
    }
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}

struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual", abstract: "Writes the manual page.",
    discussion: """
      It is made from the help of the commands, in the format that man reads.

      Example: cambium manual | man -l -
      """)

  @Flag(help: "Write the exit statuses as JSON instead.")
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
