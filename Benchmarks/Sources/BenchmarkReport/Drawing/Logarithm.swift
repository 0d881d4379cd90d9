import Glibc

/// To the base of ten.
func logarithm(_ value: Double) -> Double { Glibc.log10(value) }
