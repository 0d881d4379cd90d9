import BenchmarkReport
import FoundationEssentials

/// The machine that the figures were measured on.
enum Machine {
  static var processor: String {
    let name = contents("/proc/cpuinfo").split(separator: "\n")
      .first { $0.hasPrefix("model name") }?
      .split(separator: ":").last
    return name.map { String($0.drop { $0 == " " }) } ?? "unknown processor"
  }

  static var coreCount: Int { ProcessInfo.processInfo.activeProcessorCount }

  static var memory: Int { Int(ProcessInfo.processInfo.physicalMemory) }

  static var kernel: String {
    String(contents("/proc/sys/kernel/osrelease").prefix { $0 != "\n" })
  }

  private static func contents(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
  }
}

extension Machine {
  /// - Parameter directory: Where the stores are.
  static func description(of directory: String) -> MachineDescription {
    let path = URL(filePath: directory).resolvingSymlinksInPath().path
    let mounts = MountTable(contents("/proc/self/mountinfo"))
    return MachineDescription(
      processor: processor, coreCount: coreCount, memory: memory,
      fileSystem: mounts.type(holding: path) ?? "file system not known", kernel: kernel)
  }
}
