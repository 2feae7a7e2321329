package main

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	modernc "modernc.org/sqlite"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/wire"
)

// The statements of a start, in the order in which backend/sqlite runs them. They are copied on
// purpose, because the measurement is about Spool's work around them.
const (
	readThread = `SELECT tenant, id, state, model, title, created_at, updated_at, run_id, last_seq, fence, lease_until,
			owner, labels, bytes, bytes_summed, last_version
		FROM thread WHERE tenant = ? AND id = ?`
	insertRun = `INSERT INTO run (tenant, id, thread_id, created_at, parent_id, depth, agent, started_by, model, state, stop_reason, error,
			enqueued_at, started_at, ended_at, max_steps, steps, attempts,
			input_tokens, cached_input_tokens, output_tokens, total_tokens,
			segments, place, root_id, nested, cost_micros, currency, allowance,
			engine_state, start_key, nonce, scopes, host_state, provider_options, client, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			coalesce((SELECT ord FROM run WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)
		ON CONFLICT DO NOTHING`
	insertMessage = `INSERT INTO message (tenant, thread_id, id, agent_id, role, content, created_at, client_message_id,
			run_id, after_seq, ord)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
			coalesce((SELECT ord FROM message WHERE tenant = ? AND thread_id = ? ORDER BY ord DESC LIMIT 1), 0) + 1)`
	insertJob = `INSERT INTO job (tenant, thread_id, run_id, key, kind, agent, model, segment, due_at, id, first_due, queue, payload, claimed, token, attempts,
			lane)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '', 0, 0, 0, '=' || ?) ON CONFLICT (tenant, key) WHERE key <> '' DO NOTHING`
	insertThread = `INSERT INTO thread (tenant, id, state, model, title, created_at, updated_at, run_id, last_seq, fence, lease_until,
			owner, labels, bytes, bytes_summed, last_version)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`
	insertDelta = "INSERT INTO delta (tenant, thread_id, version, seq, at, body) VALUES (?, ?, 1, 0, ?, ?)"
	addTally    = "INSERT INTO tally VALUES (?, ?, ?, 0, 0, 0, 0) ON CONFLICT (tenant, state) DO UPDATE SET n = n + excluded.n"
)

// startBytes is how many bytes a start adds to its thread, besides the text of its delta.
const startBytes = int64(1024 + 1024 + 256 + len(startPrompt) + len(`""`) + 128)

// startDelta is the text of a start's delta, for the run, the times and the message.
var startDelta = `{"thread":{"state":"QUEUED","model":"script","title":"` + startTitle + `"},"runId":"%[1]s",` +
	`"runs":[{"id":"%[1]s","agent":"bench","model":"script","state":"QUEUED","enqueuedAt":"%[2]s","startedAt":"%[2]s"}],` +
	`"view":[{"add":["%[3]s"]}]}`

// startTitle is the title that the prompt gives its thread.
var startTitle = startPrompt[:79] + "…"

// bareScopes are the scopes of callers of a server without authentication.
const bareScopes = `["read","write","approve","stop","webhooks","schedules","admin"]`

// barePragmas are the pragmas of backend/sqlite.
var barePragmas = []string{
	"busy_timeout = 10000", "synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY", "cache_size = -8192",
	"wal_autocheckpoint = 4000", "journal_size_limit = 67108864",
}

// bareStarts writes the rows of starts, and nothing else.
type bareStarts struct {
	conn  driver.Conn
	stmts map[string]statement
	ops   chan bareStart

	written atomic.Int64
}

// bareStart has the values that differ between starts.
type bareStart struct {
	thread, run, message string
	done                 chan error
}

func newBareStarts(o options) (*served, error) {
	db, err := sqlite.Open(o.File, nil) // creates the tables
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	conn, err := new(modernc.Driver).Open("file:" + o.File)
	if err != nil {
		return nil, err
	}
	s := &bareStarts{conn: conn, stmts: make(map[string]statement), ops: make(chan bareStart, 256)}
	for _, p := range barePragmas {
		if err := s.exec("PRAGMA " + p); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	var writer sync.WaitGroup
	writer.Go(s.write)
	control := http.NewServeMux()
	control.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.written.Load()) })
	return &served{public: http.HandlerFunc(s.accept), control: control, close: func() error {
		close(s.ops)
		writer.Wait()
		return conn.Close()
	}}, nil
}

// accept answers a start when it is durable.
func (s *bareStarts) accept(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Prompt string `json:"prompt"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Prompt == "" {
		http.Error(w, "prompt is required", http.StatusBadRequest)
		return
	}
	op := bareStart{spool.NewID("thr"), spool.NewID("run"), spool.NewID("msg"), make(chan error, 1)}
	s.ops <- op
	if err := <-op.done; err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	s.written.Add(1)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	reply(w, map[string]any{"accepted": true, "threadId": op.thread, "runId": op.run, "state": "QUEUED"})
}

// write commits waiting starts in groups, as backend/sqlite does.
func (s *bareStarts) write() {
	var batch []bareStart
	for first := range s.ops {
		batch = append(batch[:0], first)
		runtime.Gosched() // the callers that the last commit woke have not run yet
		for more := true; more && len(batch) < 256; {
			select {
			case op := <-s.ops:
				batch = append(batch, op)
			default:
				more = false
			}
		}
		err := s.exec("BEGIN IMMEDIATE")
		for _, op := range batch {
			if err == nil {
				err = s.start(op)
			}
		}
		for _, state := range []string{"QUEUED", ""} {
			if err == nil {
				err = s.exec(addTally, "default", state, int64(len(batch)))
			}
		}
		if err == nil {
			err = s.exec("COMMIT")
		}
		for _, op := range batch {
			op.done <- err
		}
	}
}

// start runs the statements of one start.
func (s *bareStarts) start(op bareStart) error {
	const tenant, agent, model = "default", "bench", "script"
	at := time.Now().UTC().Truncate(time.Microsecond)
	now := at.UnixMicro()
	delta := fmt.Sprintf(startDelta, op.run, at.Format(time.RFC3339Nano), op.message)
	if err := s.read(readThread, tenant, op.thread); err != nil {
		return err
	}
	for _, statement := range []struct {
		text string
		args []driver.Value
	}{
		{insertRun, []driver.Value{
			tenant, op.run, op.thread, now, "", int64(0), agent, "", model, "QUEUED", "", "",
			now, now, int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), int64(0),
			int64(0), int64(0), "", "", int64(0), "", "",
			"", "", rand.Text(), bareScopes, "", "", "", tenant, op.thread,
		}},
		{insertMessage, []driver.Value{
			tenant, op.thread, op.message, "", "user", `"` + startPrompt + `"`, now, "", op.run, int64(0), tenant, op.thread,
		}},
		{
			insertJob,
			[]driver.Value{
				tenant, op.thread, op.run, "run:" + op.run + ":1", "start", agent, model, int64(1), now, wire.NewJobID(), now,
				agent,
			},
		},
		{insertDelta, []driver.Value{tenant, op.thread, now, delta}},
		{insertThread, []driver.Value{
			tenant, op.thread, "QUEUED", model, startTitle, now, now, op.run, int64(0), int64(0), int64(0), "", "",
			startBytes + int64(len(delta)), int64(0),
		}},
	} {
		if err := s.exec(statement.text, statement.args...); err != nil {
			return err
		}
	}
	return nil
}

func (s *bareStarts) exec(text string, args ...driver.Value) error {
	stmt, err := s.prepare(text)
	if err != nil {
		return err
	}
	_, err = stmt.ExecContext(context.Background(), named(args))
	return err
}

func (s *bareStarts) read(text string, args ...driver.Value) error {
	stmt, err := s.prepare(text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(context.Background(), named(args))
	if err != nil {
		return err
	}
	defer rows.Close()
	into := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(into); !errors.Is(err, io.EOF) {
		return fmt.Errorf("a new thread is there already (%w)", err)
	}
	return nil
}

// statement has the methods of the driver's statements.
type statement interface {
	driver.StmtExecContext
	driver.StmtQueryContext
}

func (s *bareStarts) prepare(text string) (statement, error) {
	if stmt := s.stmts[text]; stmt != nil {
		return stmt, nil
	}
	prepared, err := s.conn.Prepare(strings.ReplaceAll(text, "?", "+?")) // as backend/sqlite has it prepared once alone
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(statement)
	if !ok {
		return nil, errors.New("the driver's statements take no context")
	}
	s.stmts[text] = stmt
	return stmt, nil
}

func named(args []driver.Value) []driver.NamedValue {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return values
}
