package main

import "runtime/debug"

// release is the version of this tree. It is the newest one of CHANGELOG.md, and the one that
// the leaf modules require: a test holds all three together.
const release = "v0.1.0"

// version returns the version of the running binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	return versionOf(info)
}

// versionOf returns the version of a build: the one that "go install" was asked for, else the
// tree's, with the commit behind it where the build knows one and the commit has no tag.
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
