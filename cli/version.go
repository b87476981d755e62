package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"optratio/internal/clp"
	"optratio/internal/job"
)

// Version is the version of this program: that of its wheel and of its archives too.
const Version = "0.1.0"

// commit is set by the Makefile, for toolchains that are told not to record it.
var commit string

// versionText is what --version prints: the version, the commit that it was built from where the Go toolchain
// recorded it, the toolchain and platform, and whether CLP is inside.
func versionText() string {
	commit := job.Choose(commit == "", "unknown commit", "commit "+commit)
	if info, ok := debug.ReadBuildInfo(); ok {
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if revision := settings["vcs.revision"]; revision != "" {
			commit = "commit " + revision[:min(12, len(revision))]
			if settings["vcs.modified"] == "true" {
				commit += " with changes"
			}
			if date, _, found := strings.Cut(settings["vcs.time"], "T"); found {
				commit += " of " + date
			}
		}
	}
	return fmt.Sprintf("optratio %s (%s; %s, %s/%s; %s CLP)\n", Version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH, job.Choose(clp.Available, "with", "without"))
}
