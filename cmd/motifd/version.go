package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version = "dev"

type versionCmd struct{}

func (versionCmd) Help() string {
	return `Example:
  motifd version`
}

// Run prints the version, the revision that it was built from, and the backends that this build has.
func (versionCmd) Run(a *app) error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				revision = " " + s.Value[:12]
			}
		}
	}
	_, err := fmt.Fprintf(a.stdout, "motifd %s%s %s/%s %s, backends: %s\n",
		version, revision, runtime.GOOS, runtime.GOARCH, runtime.Version(), strings.Join(backends(), ", "))
	return err
}
