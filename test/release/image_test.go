package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// make release writes a static binary that says its version, and a checksum that is its own.
// A copy of the repository in another folder gives the same bytes.
func TestRelease(t *testing.T) {
	t.Parallel()

	version, err := released()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	name := "spool_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH
	dist := release(t, folder, name)
	binary := filepath.Join(dist, name)

	if got := output(t, exec.CommandContext(t.Context(), binary, "version")); got != "spool "+version+"\n" {
		t.Errorf("the binary is %q", got)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	sums, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if want := hex.EncodeToString(sum[:]) + "  " + name + "\n"; string(sums) != want {
		t.Errorf("SHA256SUMS is\n%swant\n%s", sums, want)
	}
	isStatic(t, binary)

	again := filepath.Join(release(t, copied(t), name), name)
	if other, err := os.ReadFile(again); err != nil || string(other) != string(text) {
		t.Errorf("a build in another folder has other bytes: %v", err)
	}
}

// release builds one binary of a folder, and returns where it and its checksum are.
func release(t *testing.T, folder, name string) string {
	t.Helper()

	dist := t.TempDir()
	target := strings.ReplaceAll(name[strings.Index(name, "_v")+1:], "_", "/")
	_, target, _ = strings.Cut(target, "/")
	command := exec.CommandContext(t.Context(), "make", "--no-print-directory", "release/binaries", "release/sums",
		"TARGETS="+target, "DIST="+dist)
	command.Dir = folder
	// Not the make that runs this test, nor its flags. The root needs its go.work.
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "MAKE") && !slices.Contains([]string{"MFLAGS", "GOFLAGS", "GOWORK"}, name) {
			command.Env = append(command.Env, variable)
		}
	}
	output(t, command)
	return dist
}

// copied returns a folder with the files of the repository.
func copied(t *testing.T) string {
	t.Helper()

	files, err := tracked()
	if err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// isStatic fails unless an image without any file beside the binary can run it.
func isStatic(t *testing.T, binary string) {
	t.Helper()

	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range info.Settings {
		if s.Key == "CGO_ENABLED" && s.Value != "0" {
			t.Error("the binary was built with cgo")
		}
	}
	if runtime.GOOS != "linux" {
		return
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a %v: it needs libraries", p.Type)
		}
	}
}

// The image is built as a release is, and has in it what it names.
func TestDockerfile(t *testing.T) {
	t.Parallel()

	text := strings.ReplaceAll(read(t, "Dockerfile"), "\\\n", " ")
	_, image, ok := strings.Cut(text, "\nFROM scratch\n")
	if !ok {
		t.Fatal("the image is not made from scratch")
	}
	static := regexp.MustCompile(`(?m)^STATIC = CGO_ENABLED=0 (go build .*)$`).FindStringSubmatch(read(t, "Makefile"))
	if static == nil || !strings.Contains(text, static[1]+" -o /out/spool ./cmd/spool") {
		t.Errorf("the image's binary is not built as those of a release are: %q", static)
	}
	if before, _, _ := strings.Cut(
		text, " go mod download ",
	); !strings.Contains(before, "COPY rest/go.mod rest/go.sum rest/\n") {
		t.Error("the image downloads modules without the go.mod of rest")
	}
	const binary = "/usr/local/bin/spool"
	for _, want := range []string{
		"COPY --from=build /out/spool " + binary + "\n",
		"COPY --from=build --chown=65532:65532 /out/root /\n",
		"USER 65532:65532\n", "VOLUME /data\n", " SPOOL_DATA=/data ",
		`CMD ["` + binary + `", "admin", "ready"]` + "\n", `ENTRYPOINT ["` + binary + `"]` + "\n",
	} {
		if !strings.Contains(image, want) {
			t.Errorf("the image lacks %q", want)
		}
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(read(t, "go.mod"))
	if !strings.Contains(text, " golang:"+version[1]+" AS build\n") {
		t.Errorf("the image is not built with Go %s, which go.mod asks for", version[1])
	}
}
