package command

import (
	"runtime/debug"
	"strings"
	"testing"
)

// A binary names its version however it was built.
func TestVersion(t *testing.T) {
	t.Parallel()

	const commit = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		built, commit, modified, want string
	}{
		"Installed":     {"v0.2.3", "", "", "v0.2.3"},
		"OfABranch":     {"v0.1.1-0.20261123030303-0123456789ab", "", "", "v0.1.1-0.20261123030303-0123456789ab"},
		"OfTheTag":      {release, commit, "false", release},
		"OfTheTree":     {"(devel)", "", "", release},
		"OfATest":       {"", "", "", release},
		"OfACommit":     {"v0.0.0-20261123030303-0123456789ab", commit, "false", release + "+0123456789ab"},
		"WithChanges":   {"v0.0.0-20261123030303-0123456789ab+dirty", commit, "true", release + "+0123456789ab.modified"},
		"WithoutModule": {"(devel)", commit, "false", release + "+0123456789ab"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: c.built}}
		if c.commit != "" {
			info.Settings = []debug.BuildSetting{
				{Key: "vcs", Value: "git"},
				{Key: "vcs.revision", Value: c.commit},
				{Key: "vcs.modified", Value: c.modified},
			}
		}
		if got := versionOf(info); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, arg := range []string{"version", "--version", "-version"} {
		if got := command(nil, arg); got.code != 0 || !strings.HasPrefix(got.stdout, "spool "+release) {
			t.Errorf("%s: %+v", arg, got)
		}
	}
}
