package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// linked is set by the linker: -ldflags "-X main.linked=v1.2.3".
var linked string

// version is the version of this build.
var version = versionOf(linked, debug.ReadBuildInfo)

// versionOf returns the version that the linker was given, or that of the module when it was built by go install, or
// the revision, or "dev".
func versionOf(linked string, read func() (*debug.BuildInfo, bool)) string {
	info, ok := read()
	if linked != "" || !ok {
		return cmp.Or(linked, "dev")
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := revisionOf(info)
	if revision == "" {
		return "dev"
	}
	if dirty {
		revision += "-dirty"
	}
	return "dev-" + revision
}

// revisionOf returns the first 12 digits of the commit that a build was made from, "" when it is not known, and whether
// files had been changed since.
func revisionOf(info *debug.BuildInfo) (revision string, dirty bool) {
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12:
			revision = s.Value[:12]
		case s.Key == "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	return revision, dirty
}

type versionCmd struct{}

func (versionCmd) Help() string {
	return `Example:
  motifd version`
}

// Run prints the version, the revision that it was built from, and the backends that this build has.
func (versionCmd) Run(a *app) error {
	revision := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if r, _ := revisionOf(info); r != "" && !strings.Contains(version, r) {
			revision = " " + r
		}
	}
	_, err := fmt.Fprintf(a.stdout, "motifd %s%s %s/%s %s, backends: %s\n",
		version, revision, runtime.GOOS, runtime.GOARCH, runtime.Version(), strings.Join(backends(), ", "))
	return err
}
