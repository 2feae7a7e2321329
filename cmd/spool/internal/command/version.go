package command

import "runtime/debug"

// release is the version of this tree. It is the newest version in CHANGELOG.md, and the version that
// the leaf modules require. A test checks that all three are the same.
const release = "v0.1.0"

// version returns the version of the running binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	for _, m := range info.Deps { // of a program of another module
		if m.Path == "github.com/spoolhq/spool" {
			return versionOf(&debug.BuildInfo{Main: *m})
		}
	}
	return versionOf(info)
}

// versionOf returns the version of a build. This is the version that "go install" was asked for, or
// else the tree's version. It includes the commit if the build knows it and the commit has no tag.
func versionOf(info *debug.BuildInfo) string {
	const short = 12 // digits of a commit
	var commit, modified string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) > short:
			commit = s.Value[:short]
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = ".modified"
		}
	}
	switch built := info.Main.Version; {
	case built == release || commit == "" && (built == "" || built == "(devel)"):
		return release
	case commit == "":
		return built
	default:
		return release + "+" + commit + modified
	}
}
