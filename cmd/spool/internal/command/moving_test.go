package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/pgtest"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// TestMove moves a server from SQLite to PostgreSQL and back: what callers see stays the same, and runs that were
// waiting or cut off go on in the other database.
func TestMove(t *testing.T) {
	t.Parallel()

	dir, data := t.TempDir(), t.TempDir()
	postgres, back := pgtest.Database(t, nil), t.TempDir()
	lived(t, data)
	reads := []string{
		"/api/agent/history?threadId=t1", "/api/agent/branches?threadId=t1", "/api/agent/usage?threadId=t1",
		"/api/agent/events?threadId=t1", "/api/agent/history?threadId=parked", "/api/agent/usage?threadId=parked",
		"/api/threads?state=COMPLETED", "/api/threads?state=WAITING_FOR_INPUT", "/api/admin/revisions", "/api/admin/audit",
		"/api/agent/runs/r1",
	}
	source := start(t, data)
	source.post(t, "/api/agent/run", `{"threadId":"slow","runId":"slow","prompt":"slow 400"}`)
	source.becomes(t, "slow", wire.Running)
	before := source.seen(t, reads)
	source.signal(t, syscall.SIGKILL) // the slow run is in the middle of its answer

	first := moved(t, dir, "first", []string{"--data", data}, []string{"--database", postgres})
	second := moved(t, dir, "second", []string{"--database", postgres}, []string{"--data", back})
	third := moved(t, dir, "third", []string{"--data", back}, nil)
	for _, other := range []string{second, third} {
		if diff := cmp.Diff(rowsOf(t, first), rowsOf(t, other)); diff != "" {
			t.Fatalf("the exports differ (-first +%s):\n%s", other, diff)
		}
	}

	target := startWith(t, []string{"SPOOL_DATABASE=" + postgres}, t.TempDir())
	if diff := cmp.Diff(before, target.seen(t, reads)); diff != "" {
		t.Errorf("what callers see (-before +after):\n%s", diff)
	}
	target.approve(t, "parked")
	target.becomes(t, "parked", wire.Completed)
	if got := target.get(
		t, "/api/agent/history?threadId=parked",
	); !strings.Contains(got, "No email was sent to ann@example.com") || !strings.Contains(got, "And then?") {
		t.Errorf("the thread that waited: %s", got)
	}
	target.becomes(t, "slow", wire.Running)
	target.post(t, "/api/agent/control", `{"threadId":"slow","runId":"slow","action":"stop"}`)
	target.becomes(t, "slow", wire.Cancelled)
}

// lived runs a server until it has threads of several kinds.
func lived(t *testing.T, data string) {
	t.Helper()

	p := start(t, data)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"r1","prompt":"hello","title":"A \"title\""}`)
	p.becomes(t, "t1", wire.Completed)
	var s wire.Snapshot
	if err := json.Unmarshal([]byte(p.get(t, "/api/agent/history?threadId=t1")), &s); err != nil {
		t.Fatal(err)
	}
	p.post(t, "/api/agent/run", fmt.Sprintf(`{"threadId":"t1","runId":"r2","prompt":"hello <again>","editMessageId":%q}`,
		s.Messages[0].ID))
	p.becomes(t, "t1", wire.Completed)
	p.post(t, "/api/agent/run", `{"threadId":"parked","prompt":"use send_email with {\"to\":\"ann@example.com\"}"}`)
	p.becomes(t, "parked", wire.WaitingForInput)
	p.post(t, "/api/agent/run", `{"threadId":"parked","prompt":"And then?","whenBusy":"enqueue"}`)
	p.post(t, "/api/agent/run", `{"threadId":"stopped","prompt":"use send_email with {\"to\":\"bob@example.com\"}"}`)
	p.becomes(t, "stopped", wire.WaitingForInput)
	p.post(t, "/api/agent/control", `{"threadId":"stopped","action":"stop"}`)
	if code := p.signal(t, syscall.SIGTERM); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
}

// becomes waits until a thread is in a state and no run of it waits behind another one, unless the state is of a
// run that waits itself.
func (p *process) becomes(t *testing.T, thread string, state wire.State) {
	t.Helper()
	ctx := testwait.Context(t, "thread "+thread+" is "+string(state))
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var s wire.Snapshot
		body := p.get(t, "/api/agent/history?threadId="+thread)
		if json.Unmarshal([]byte(body), &s) == nil && s.Thread.State == state &&
			(state != wire.Completed || !strings.Contains(body, `"state":"QUEUED"`)) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%v: %s", context.Cause(ctx), body)
		}
	}
}

// seen returns the answers to requests, and the frames of a client that begins to follow.
func (p *process) seen(t *testing.T, paths []string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, path := range paths {
		all[path] = p.get(t, path)
	}
	var w watcher
	w.watch(t, p, func(f wire.Frame) bool { return f.Event != nil && f.Event.Type == wire.NoticeStateChange })
	for i, f := range w.frames {
		if f.Event != nil && f.Event.Seq == 0 { // a notice, which is made for this client now
			f.Event.CreatedAt = time.Time{}
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint("frame ", i)] = string(text)
	}
	return all
}

// approve allows the call that a thread waits for.
func (p *process) approve(t *testing.T, thread string) {
	t.Helper()
	var s wire.Snapshot
	if err := json.Unmarshal([]byte(p.get(t, "/api/agent/history?threadId="+thread)), &s); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.ActiveEvents {
		var asked wire.InputRequired
		if e.Type != wire.EntryInputRequired || json.Unmarshal(e.Payload, &asked) != nil {
			continue
		}
		body := fmt.Sprintf(`{"threadId":%q,"toolCallId":%q,"approved":true,"digest":%q}`, thread, asked.ToolCallID,
			asked.Digest)
		if got := p.post(t, "/api/agent/respond", body); got != `{"delivered":true}` {
			t.Errorf("respond: %s", got)
		}
	}
}

// moved exports a database, and imports the file into another one, twice.
func moved(t *testing.T, dir, name string, from, to []string) string {
	t.Helper()
	file := filepath.Join(dir, name+".jsonl")
	got := command(nil, append(append([]string{"export"}, from...), file)...)
	if got.code != exitOK || !strings.Contains(got.stderr, " threads") {
		t.Fatalf("export: %+v", got)
	}
	if got := command(nil, "import", "--check", file); got.code != exitOK || !strings.Contains(got.stderr, "is whole: ") {
		t.Errorf("check: %+v", got)
	}
	if to == nil {
		return file
	}
	for _, want := range []string{"added 2 kinds", "added 0 threads; there already: "} {
		got := command(nil, append(append([]string{"import"}, to...), file)...)
		if got.code != exitOK || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, " threads") {
			t.Fatalf("import: %+v, want %q", got, want)
		}
	}
	return file
}

// rowsOf returns a file without its header.
func rowsOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	return lines[1:]
}

// A file that is cut or changed anywhere is refused by its line. What comes before is imported, and the file that is
// whole brings the rest.
func TestImportDamaged(t *testing.T) {
	t.Parallel()

	dir, data := t.TempDir(), t.TempDir()
	lived(t, data)
	file := moved(t, dir, "whole", []string{"--data", data}, nil)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	at := 0
	for i, line := range lines {
		if bytes.Contains(line, []byte(`"name":"stopped"`)) {
			at = i + 3 // a row of the second thread
		}
	}
	row := lines[at]
	damaged := map[string]struct{ text, want string }{
		"Cut": {
			string(bytes.Join(lines[:at], nil)),
			fmt.Sprintf("line %d, in the thread stopped of the tenant default: the file is cut here", at+1),
		},
		"Half": {string(bytes.Join(lines[:at], nil)) + string(row[:9]), "the file is cut here"},
		"Changed": {
			string(bytes.Join(lines[:at], nil)) + strings.Replace(string(row), `"ord":`, `"ord":1`, 1) +
				string(bytes.Join(lines[at+1:], nil)),
			"in the thread stopped of the tenant default: its checksum is wrong",
		},
		"Without": {string(bytes.Join(lines[:at], nil)) + string(bytes.Join(lines[at+1:], nil)), "its checksum is wrong"},
		"NoEnd":   {string(bytes.Join(lines[:len(lines)-2], nil)), "the file is cut here"},
		"More":    {string(whole) + "{}\n", "something follows the end"},
		"Other":   {"SQLite format 3", "it is no file of `spool export`"},
		"Empty":   {"", "it is no file of `spool export`"},
		"Later":   {strings.Replace(string(whole), `"format":1`, `"format":2`, 1), "this version reads the format 1"},
	}
	for name, d := range damaged {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad, to := filepath.Join(t.TempDir(), "bad.jsonl"), t.TempDir()
			if err := os.WriteFile(bad, []byte(d.text), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"import", "--check", bad}, {"import", "--data", to, bad}} {
				if got := command(nil, args...); got.code != exitFailure || !strings.Contains(got.stderr, d.want) {
					t.Errorf("%v: %+v, want %q", args, got, d.want)
				}
			}
			if got := command(nil, "import", "--data", to, file); got.code != exitOK {
				t.Errorf("the whole file: %+v", got)
			}
			again := moved(t, t.TempDir(), "again", []string{"--data", to}, nil)
			if diff := cmp.Diff(rowsOf(t, file), rowsOf(t, again)); diff != "" {
				t.Errorf("the export of the import (-want +got):\n%s", diff)
			}
		})
	}
}

// A refusal names the section once.
func TestRefusalOf(t *testing.T) {
	t.Parallel()

	audit := store.Section{Kind: store.SectionAudit, Tenant: "default", Name: "0"}
	for text, want := range map[string]string{
		"the audit 0 of the tenant default is there already, with another content": "the audit 0 of the tenant default is there already, with another content",
		`this version has no column "x" in the table "audit"`:                      `the audit 0 of the tenant default: this version has no column "x" in the table "audit"`,
	} {
		if got := refusalOf(audit, spool.Errorf(spool.Conflict, "%s", text)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A thread that has changed in the target is refused by its name, and the others are added.
func TestImportRefuses(t *testing.T) {
	t.Parallel()

	dir, data, to := t.TempDir(), t.TempDir(), t.TempDir()
	lived(t, data)
	file := moved(t, dir, "whole", []string{"--data", data}, nil)
	p := start(t, to)
	p.post(t, "/api/agent/run", `{"threadId":"t1","runId":"mine","prompt":"hello"}`)
	p.becomes(t, "t1", wire.Completed)
	if got := command(nil, "import", "--data", to, file); got.code != exitFailure ||
		!strings.Contains(got.stderr, "another process") {
		t.Errorf("beside a server: %+v", got)
	}
	if got := command(nil, "export", "--data", to, filepath.Join(dir, "never")); got.code != exitFailure ||
		!strings.Contains(got.stderr, "another process") {
		t.Errorf("beside a server: %+v", got)
	}
	p.signal(t, syscall.SIGTERM)
	got := command(nil, "import", "--data", to, file)
	const refused = "refused: the thread t1 of the tenant default is there already, with another content\n"
	if got.code != exitFailure || strings.Count(got.stderr, "refused: ") != 1 || !strings.Contains(got.stderr, refused) ||
		!strings.Contains(got.stderr, "refused 1 thread") {
		t.Errorf("import: %+v", got)
	}
	p = start(t, to)
	p.becomes(t, "parked", wire.WaitingForInput)
	if got := p.get(t, "/api/agent/history?threadId=t1"); !strings.Contains(got, `"mine"`) {
		t.Errorf("the thread that was there: %s", got)
	}
}

func TestMoveUsage(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"export needs the name of one file":            {"export"},
		"import needs the name of one file":            {"import", "a", "b"},
		"--data and --database name two databases":     {"export", "--data", dir, "--database", "postgres://h/d", "f"},
		"flag provided but not defined: -listen":       {"export", "--listen", ":1", "f"},
		"--database: it must be a URL such as":         {"import", "--database", "x", "f"},
		`--database-pool: "0" must be a number from 4`: {"import", "--database-pool", "0", "f"},
	} {
		if got := command(nil, args...); got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	for want, args := range map[string][]string{
		"there is no database in " + dir: {"export", "--data", dir, filepath.Join(dir, "f")},
		"an export overwrites nothing":   {"export", "--data", dir, there},
		"no such file":                   {"import", "--data", dir, filepath.Join(dir, "missing")},
	} {
		// A variable of the other database does not count beside a flag.
		if got := command(
			map[string]string{"SPOOL_DATABASE": "postgres://u:s3cret@127.0.0.1:1/d"}, args...,
		); got.code != exitFailure || !strings.Contains(got.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, got, want)
		}
	}
	if got := command(
		map[string]string{"SPOOL_ROLE": "worker", "SPOOL_LISTEN": "x"}, "export", "--help",
	); got.code != exitOK || !strings.Contains(got.stdout, "Stop every server") ||
		strings.Contains(got.stdout, "--listen") {
		t.Errorf("help: %+v", got)
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(names) != 1 {
		t.Errorf("the folder has %v, %v", names, err)
	}
}

// The bar is for a terminal. Elsewhere there are lines, not more than one each few seconds.
func TestProgress(t *testing.T) {
	t.Parallel()

	var b bytes.Buffer
	p := newProgress(&b, 10)
	for i := range 11 {
		p.at(i, 1)
	}
	p.clear()
	if b.Len() > 0 {
		t.Errorf("at once it says %q", b.String())
	}
	p.every = 0
	p.at(5, 2_500_000)
	if got := b.String(); got != "50 %, 5 of 10 sections, 2.5 MB\n" {
		t.Errorf("it says %q", got)
	}
	b.Reset()
	p.bar = true
	p.at(5, 0)
	p.clear()
	if got := b.String(); !strings.HasPrefix(got, "\r\x1b[K[###############...............]  50 %") ||
		!strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("the bar is %q", got)
	}
}
