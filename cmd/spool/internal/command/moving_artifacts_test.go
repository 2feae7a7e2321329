package command

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/archive"
	"github.com/spoolhq/spool/internal/testing/fake/s3"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/store"
)

// upload stores a file in a thread, which it makes first.
func (p *process) upload(t *testing.T, thread, text string) spool.ArtifactID {
	t.Helper()
	p.post(t, "/api/agent/run?wait=30s", `{"threadId":"`+thread+`","prompt":"hello"}`)
	r, err := http.NewRequestWithContext(patiently(t), http.MethodPost,
		p.url+"/api/agent/artifacts?name=a.txt&threadId="+thread, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var a spool.Artifact
	if body := read(t, r); json.Unmarshal([]byte(body), &a) != nil || a.Size != int64(len(text)) {
		t.Fatalf("upload: %s", body)
	}
	return a.ID
}

// has checks the data of an artifact.
func (p *process) has(t *testing.T, thread string, id spool.ArtifactID, text string) {
	t.Helper()
	if got := p.get(t, "/api/agent/artifacts/"+string(id)+"?threadId="+thread); got != strings.TrimSpace(text) {
		t.Errorf("the artifact of %s has %d bytes, want %d", thread, len(got), len(text))
	}
}

// bytesOf returns how many bytes of the quota the tenant of a database takes.
func bytesOf(t *testing.T, flags ...string) (n int64) {
	t.Helper()
	withArchive(t, flags, func(ctx context.Context, h host, o options, db *storage, _ store.Archive) {
		place, _, err := openPlace(ctx, o, h, db.backend.Store)
		if err == nil {
			n, err = place.Bytes(ctx, "default")
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return n
}

// withArchive opens the database of an export's flags.
func withArchive(
	t *testing.T, flags []string, fn func(ctx context.Context, h host, o options, db *storage, from store.Archive),
) {
	t.Helper()
	h := host{stdout: io.Discard, stderr: io.Discard, lookup: func(string) (string, bool) { return "", false }}
	o, _, err := exportCommand.parse(append(slices.Clone(flags), "FILE"), h)
	if err != nil {
		t.Fatal(err)
	}
	db, from, err := openArchive(t.Context(), o, h)
	if err != nil {
		t.Fatal(err)
	}
	fn(t.Context(), h, o, db, from)
	if err := db.close(); err != nil {
		t.Fatal(err)
	}
}

// moves runs a command, and checks its exit code and a part of what it says.
func moves(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	if got := command(nil, args...); got.code != code || !strings.Contains(got.stderr, want) {
		t.Fatalf("%v: %+v, want %q", args, got, want)
	}
}

func ended(t *testing.T, p *process) {
	t.Helper()
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
}

// artifactSection returns the rows of the artifacts of a thread in a file.
func artifactSection(t *testing.T, file, thread string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), `{"kind":"rows","tenant":"default","name":"artifact`) ||
		strings.Contains(string(text), `{"kind":"rows","name":"blob`) {
		t.Errorf("%s has rows of artifacts", file)
	}
	_, rest, _ := strings.Cut(string(text), `{"section":{"kind":"artifacts","tenant":"default","name":"`+thread+`"}}`)
	section, _, _ := strings.Cut(rest, `{"end":`)
	return section
}

// TestMoveArtifacts moves artifacts from a folder into a PostgreSQL whose tenant has artifacts, and from there into a
// bucket. Data, ids and the quota are right, and the deletion of a thread leaves the data that another one has too.
func TestMoveArtifacts(t *testing.T) {
	t.Parallel()

	service := s3.Open(false)
	t.Cleanup(service.Close)
	dir, postgres := t.TempDir(), pgtest.Database(t, nil)
	from := []string{
		"--data", t.TempDir(), "--config", writeConfig(t, "artifacts: {type: directory, path: "+t.TempDir()+"}\n"),
	}
	middle := []string{"--database", postgres, "--config", writeConfig(t, "artifacts: {type: database, quota: 2000000}\n")}
	last := []string{
		"--data", t.TempDir(), "--config",
		writeConfig(t, "artifacts: {type: s3, endpoint: \""+service.URL+"\", bucket: "+service.Bucket+
			", region: "+service.Region+", access_key: "+service.AccessKey+", secret_key: "+service.SecretKey+
			", insecure: true}\n"),
	}
	large, shared, own := strings.Repeat("one line of many\n", 30000), strings.Repeat("both have it\n", 1000),
		"only the target has it"

	p := start(t, from[1], from[2:]...)
	first, second := p.upload(t, "t1", large), p.upload(t, "t1", shared)
	ended(t, p)
	p = start(t, t.TempDir(), middle...)
	mine, third := p.upload(t, "mine", shared), p.upload(t, "mine", own)
	ended(t, p)

	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	moves(t, exitFailure, "name their place with --config or --artifacts", "export", "--data", from[1], one)
	moves(t, exitOK, "1 thread, 2 artifacts", slices.Concat([]string{"export"}, from, []string{one})...)
	moves(t, exitOK, "1 thread, 2 artifacts", "import", "--check", one)
	tight := strings.Repeat("x", maxArtifactKept+1)
	p = start(t, from[1], from[2:]...)
	p.upload(t, "t9", tight)
	ended(t, p)
	nine := filepath.Join(dir, "nine")
	moves(t, exitOK, "2 threads, 3 artifacts", slices.Concat([]string{"export"}, from, []string{nine})...)
	moves(t, exitFailure, "refused: the thread t9 of the tenant default: the artifact is larger than 4194304 bytes",
		"import", "--data", t.TempDir(), nine)
	moves(t, exitOK, "1 thread, 2 artifacts", slices.Concat([]string{"import"}, middle, []string{one})...)
	moves(t, exitOK, "added 0 threads; there already: ", slices.Concat([]string{"import"}, middle, []string{one})...)
	if got, want := bytesOf(t, middle...), int64(len(large)+len(shared)+len(own)); got != want {
		t.Errorf("the tenant has %d bytes, want %d", got, want)
	}
	moves(t, exitOK, "2 threads, 4 artifacts", slices.Concat([]string{"export"}, middle, []string{two})...)
	if diff := cmp.Diff(artifactSection(t, one, "t1"), artifactSection(t, two, "t1")); diff != "" ||
		artifactSection(t, one, "t1") == "" {
		t.Errorf("the artifacts of the two exports differ: %s", diff)
	}
	moves(t, exitOK, "2 threads, 4 artifacts", slices.Concat([]string{"import"}, last, []string{two})...)
	if got, want := bytesOf(t, last...), int64(len(large)+len(shared)+len(own)); got != want ||
		len(service.Objects()) != 3 {
		t.Errorf("the tenant has %d bytes and %d objects, want %d bytes", got, len(service.Objects()), want)
	}

	for name, p := range map[string]*process{
		"database": start(t, t.TempDir(), middle...), "bucket": start(t, last[1], last[2:]...),
	} {
		p.has(t, "t1", first, large)
		p.has(t, "t1", second, shared)
		p.has(t, "mine", third, own)
		r, err := http.NewRequestWithContext(patiently(t), http.MethodDelete, p.url+"/api/threads?threadId=t1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, r); !strings.Contains(got, "true") {
			t.Fatalf("%s: %s", name, got)
		}
		p.has(t, "mine", mine, shared)
		ended(t, p)
	}
	if got, want := bytesOf(t, middle...), int64(len(shared)+len(own)); got != want {
		t.Errorf("after the deletion the tenant has %d bytes, want %d", got, want)
	}
	moves(t, exitOK, "added 0 threads; there already: ", slices.Concat([]string{"import"}, middle, []string{one})...)
	if got, want := bytesOf(t, middle...), int64(len(shared)+len(own)); got != want {
		t.Errorf("an import after the deletion: the tenant has %d bytes, want %d", got, want)
	}
}

// Artifacts that are altered, have no room or have lost their data are refused or told, and the target has nothing of
// their thread. An archive of an older version has the rows of artifacts, which fit only a tenant without any.
func TestMoveArtifactsRefused(t *testing.T) {
	t.Parallel()

	dir, folder := t.TempDir(), t.TempDir()
	from := []string{"--data", t.TempDir(), "--artifacts", folder}
	p := start(t, from[1], from[2:]...)
	id := p.upload(t, "t1", "some text")
	p.upload(t, "t2", "other text")
	p.upload(t, "t2", "third text")
	ended(t, p)
	whole := filepath.Join(dir, "whole")
	moves(t, exitOK, "2 threads, 3 artifacts", slices.Concat([]string{"export"}, from, []string{whole})...)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}

	to := []string{"--data", t.TempDir(), "--artifacts", t.TempDir()}
	into := func(file string) []string { return slices.Concat([]string{"import"}, to, []string{file}) }
	for old, altered := range map[string]string{
		`"artifact_data":{"base64":"c29t`: `"artifact_data":{"base64":"c29s`, `"sha256":"`: `"sha256":"0`,
	} {
		bad := filepath.Join(t.TempDir(), "bad")
		at := strings.Index(string(text), `{"artifact":`)
		changed := string(text[:at]) + strings.Replace(string(text[at:]), old, altered, 1)
		if err := os.WriteFile(bad, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		const want = "in the artifacts t1 of the tenant default: the checksum of the artifact "
		moves(t, exitFailure, want, "import", "--check", bad)
		moves(t, exitFailure, want, into(bad)...)
		if got := bytesOf(t, to...); got != 0 || filesIn(t, to[3]) != 0 {
			t.Errorf("the target has %d bytes and %d files", got, filesIn(t, to[3]))
		}
	}
	full := slices.Concat([]string{"import"}, to[:2],
		[]string{"--config", writeConfig(t, "artifacts: {type: directory, path: "+to[3]+", quota: 19}\n"), whole})
	moves(t, exitFailure,
		"refused: the thread t2 of the tenant default: the artifacts of the tenant have 19 of at most 19 bytes", full...)
	if got := bytesOf(t, to...); got != int64(len("some text")) || filesIn(t, to[3]) != 1 {
		t.Errorf("the target has %d bytes and %d files", got, filesIn(t, to[3]))
	}
	moves(t, exitOK, "added 1 thread, 2 artifacts; there already: ", into(whole)...)
	p = start(t, to[1], to[2:]...)
	p.has(t, "t1", id, "some text")
	ended(t, p)

	// A tenant with artifacts gets the threads of an older archive, and later their artifacts from a new one.
	old := filepath.Join(dir, "old")
	oldExport(t, from, old)
	to = []string{"--data", t.TempDir(), "--artifacts", t.TempDir()}
	p = start(t, to[1], to[2:]...)
	p.upload(t, "mine", "my text")
	ended(t, p)
	moves(t, exitFailure, "refused: the rows artifact of the tenant default: an older version wrote them", into(old)...)
	p = start(t, to[1], to[2:]...)
	p.upload(t, "t1", "later text")
	ended(t, p)
	moves(t, exitOK, "added 0 threads, 3 artifacts; there already: ", into(whole)...)
	if got, want := bytesOf(t, to...), int64(
		len("my text"+"later text"+"some text"+"other text"+"third text"),
	); got != want {
		t.Errorf("the target has %d bytes, want %d", got, want)
	}
	p = start(t, to[1], to[2:]...)
	p.has(t, "t1", id, "some text")
	ended(t, p)

	moves(t, exitOK, "2 threads", "import", "--data", filepath.Join(dir, "empty"), old)
	p = start(t, filepath.Join(dir, "empty"), "--artifacts", folder)
	p.has(t, "t1", id, "some text")
	ended(t, p)

	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	lossy := filepath.Join(dir, "lossy")
	moves(t, exitFailure, "missing: the data of the artifact "+string(id)+" of the thread t1 of the tenant default\n",
		slices.Concat([]string{"export"}, from, []string{lossy})...)
	moves(t, exitOK, "is whole: ", "import", "--check", lossy)
}

// oldExport writes what an older version writes: all sections of the database.
func oldExport(t *testing.T, flags []string, file string) {
	t.Helper()
	withArchive(t, flags, func(ctx context.Context, _ host, _ options, _ *storage, from store.Archive) {
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		w, err := archive.NewWriter(f, archive.Header{})
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range store.SectionKinds() {
			all, err := from.Sections(ctx, kind)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range all {
				if _, err := w.Section(ctx, from, s); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// The files that an engine keeps in its database move without a place. A server that later has a folder still has them,
// and removes them with their thread.
func TestMoveKeptArtifacts(t *testing.T) {
	t.Parallel()

	from, to, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "file")
	p := start(t, from)
	id := p.upload(t, "t1", "some text")
	p.has(t, "t1", id, "some text")
	ended(t, p)
	moves(t, exitOK, "1 thread, 1 artifact", "export", "--data", from, file)
	moves(t, exitOK, "1 thread, 1 artifact", "import", "--data", to, file)
	p = start(t, to)
	p.has(t, "t1", id, "some text")
	ended(t, p)
	folder := t.TempDir()
	p = start(t, to, "--artifacts", folder)
	p.has(t, "t1", id, "some text")
	later := p.upload(t, "t1", "later text")
	p.has(t, "t1", later, "later text")
	if n := filesIn(t, folder); n != 1 {
		t.Errorf("the folder has %d files", n)
	}
	r, err := http.NewRequestWithContext(patiently(t), http.MethodDelete, p.url+"/api/threads?threadId=t1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, r); !strings.Contains(got, "true") {
		t.Fatal(got)
	}
	ended(t, p)
	if got := bytesOf(t, "--data", to); got != 0 {
		t.Errorf("the tenant has %d bytes", got)
	}
}

// A file that only the configuration of the servers allows moves with that configuration.
func TestMoveKeptLarge(t *testing.T) {
	t.Parallel()

	from, to, file, config := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "file"),
		filepath.Join(t.TempDir(), "spool.yaml")
	text := "models: {show: {provider: demo}}\nagents: {a: {model: show}}\nlimits: {max_file_bytes: 6000000}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, from, "--config", config)
	id := p.upload(t, "t1", strings.Repeat("text", 1_250_000))
	ended(t, p)
	moves(t, exitOK, "1 thread, 1 artifact", "export", "--config", config, "--data", from, file)
	moves(t, exitOK, "1 thread, 1 artifact", "import", "--config", config, "--data", to, file)
	p = start(t, to, "--config", config)
	p.has(t, "t1", id, strings.Repeat("text", 1_250_000))
	ended(t, p)
}
