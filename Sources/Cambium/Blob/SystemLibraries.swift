#if StaticZstd
  internal import CStaticZstd
#else
  internal import CZstd
#endif

/// The libraries of the system that are linked.
package enum SystemLibraries {
  /// The version of zstd that runs, which need not be the one that the program was built with.
  package static var zstdVersion: String { unsafe String(cString: ZSTD_versionString()) }
}
