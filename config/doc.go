// Package config holds the daemon's configuration as one typed value.
//
// Three places set a field, each overriding the one before: the YAML file, the environment (MOTIFD_ and the field's
// path in capitals, `.` written `_`), and the command line. A field is named by its path everywhere: `batch.linger`
// is MOTIFD_BATCH_LINGER and `--set batch.linger=50ms`.
//
// Load reads, binds and validates; every mistake it finds is reported with the place where it was made (file, line
// and column, variable or flag) and what would be right (DESIGN S10). Nothing is started on a configuration with a
// mistake. What Load returns maps onto the Options of the packages that do the work, which stay beside the code they
// configure.
package config
