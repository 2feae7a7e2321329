package view_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

var seedKey = spool.ThreadKey{Tenant: "acme", ID: "t"}

// TestSeeds follows a thread to which an order that a seed decides does what people and machines do. Behind each commit
// the view has to show what a new snapshot does. The campaigns begin within ten seconds.
//
// SPOOL_CAMPAIGN is the number of seeds, and lifts the bound. SPOOL_FIRST is the first of them, and SPOOL_SEED a single
// one. If SPOOL_VIEWS names a file, it gets a line for each seed, with the frames and with what the view shows behind
// each entry and step, for a client in another language: see test/tsclient.
func TestSeeds(t *testing.T) {
	t.Parallel()

	seeds, first, until := uint64(2000), uint64(time.Now().UnixNano())&0xffffff, time.Now().Add(10*time.Second)
	for name, into := range map[string]*uint64{"SPOOL_CAMPAIGN": &seeds, "SPOOL_FIRST": &first, "SPOOL_SEED": &first} {
		if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
			*into, until = n, time.Time{}
		}
	}
	if os.Getenv("SPOOL_SEED") != "" {
		seeds = 1
	}
	file := newSeedsFile(t)
	done, compared := 0, 0
	for seed := first; seed < first+seeds && !t.Failed() && (until.IsZero() || time.Now().Before(until)); seed++ {
		synctest.Test(t, func(t *testing.T) {
			c := newCampaign(t, seed)
			c.kept, c.whole = file != nil, seeds == 1
			c.play()
			compared += c.compared
			file.add(t, c.line)
		})
		done++
	}
	if t.Logf("%d seeds from %d compared %d times", done, first, compared); !t.Failed() && compared < 5*done {
		t.Error("that is too seldom")
	}
}

// seedsFile is the file that SPOOL_VIEWS names. Nil: there is none.
type seedsFile struct{ *json.Encoder }

func newSeedsFile(t *testing.T) *seedsFile {
	t.Helper()

	name := os.Getenv("SPOOL_VIEWS")
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
	return &seedsFile{json.NewEncoder(file)}
}

func (f *seedsFile) add(t *testing.T, l line) {
	t.Helper()

	if f != nil {
		if err := f.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
}

// line is what a client in another language reads of a seed.
type line struct {
	Seed uint64 `json:"seed"`
	// Snapshot is where the client begins.
	Snapshot json.RawMessage `json:"snapshot"`
	Frames   []framed        `json:"frames"`
	Views    []seen          `json:"views"`
}

// seen is what the view shows behind a frame: all of it, or its digest: see digestOf.
type seen struct {
	Behind int             `json:"behind"`
	Digest string          `json:"digest"`
	View   json.RawMessage `json:"view,omitempty"`
}

// digestOf returns the digest of the JSON of a value, with the keys of objects in the order of their bytes.
func digestOf(t *testing.T, text []byte) string {
	t.Helper()

	sum := sha256.Sum256([]byte(lineOf(t, parsed(t, text))))
	return hex.EncodeToString(sum[:8])
}

// campaign is a thread, and somebody who follows it.
type campaign struct {
	t      *testing.T
	rand   *rand.Rand
	engine *engine.Engine

	mu       sync.Mutex // of what the follower writes: shown, line, branches
	shown    *view.Thread
	line     line
	kept     bool // the views
	whole    bool
	compared int
	seen     int // frames
	turns    int
	branches []wire.BranchID
}

func newCampaign(t *testing.T, seed uint64) *campaign {
	t.Helper()

	c := &campaign{t: t, rand: rand.New(rand.NewPCG(seed, 0)), line: line{Seed: seed}}
	tool := func(name string, call func(context.Context, spool.ToolCall) (json.RawMessage, error)) spool.Tool {
		return spool.Tool{ToolSpec: spool.ToolSpec{Name: name}, Call: call}
	}
	send := tool("send", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`"sent"`), nil
	})
	send.Approval = spool.AlwaysApprove
	send.Expiry = spool.Expiry{TTL: 40 * time.Second, Then: spool.ExpireExtend, Extensions: 1}
	look := tool("look", func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		select {
		case <-time.After(time.Second):
			return c.Args, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	slow := tool("slow", func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
		if c.Pending == nil {
			return nil, spool.Pending(20*time.Second, json.RawMessage(`{}`))
		}
		return json.RawMessage(`"at last"`), nil
	})
	tools := []spool.Tool{send, look, slow}
	var err error
	c.engine, err = engine.New(memory.New(nil), engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: tools,
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"helper": {Tools: tools}}},
		}},
		Models: map[string]spool.Model{"m": spooltest.NewModelFunc(speaker(seed))},
		Stream: option.Stream{FlushEvery: -1}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// speaker returns a model whose answers differ in each step of each run, and that sometimes fails.
func speaker(seed uint64) func(context.Context, spool.ModelRequest) spooltest.Turn {
	return func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		step, prompt := spooltest.StepOf(r), ""
		for _, m := range r.Messages {
			if m.Role == spool.RoleUser {
				prompt = m.Text()
			}
		}
		sum := sha256.Sum256([]byte(prompt))
		dice := rand.New(rand.NewPCG(seed+uint64(step), uint64(sum[0])<<8|uint64(sum[1])))
		wait := func(ctx context.Context) error {
			select {
			case <-time.After(time.Duration(dice.IntN(3)) * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		out := spooltest.Turn{
			Text: []string{prompt, "/" + strconv.Itoa(step)}, Usage: spooltest.Tokens(7, 3), Before: wait, Midway: wait,
		}
		if dice.IntN(3) == 0 {
			out.Reasoning = []string{"h", "m"}
		}
		if dice.IntN(4) == 0 {
			out.Sources = []spool.Source{{URL: "https://example.com/" + prompt}}
		}
		if dice.IntN(10) == 0 {
			out.Err = &spool.ModelError{Status: []int{503, 400}[dice.IntN(2)]}
			return out
		}
		for i := range dice.IntN(4 - min(step, 3)) {
			call := spooltest.Call{ID: spool.ToolCallID(fmt.Sprintf("%s-%d-%d", prompt, step, i)), Name: "look", Args: `{"n":1}`}
			switch dice.IntN(6) {
			case 0, 1:
				call.Name = "send"
			case 2:
				call.Name = "slow"
			case 3:
				if len(prompt) < 12 {
					call.Name, call.Args = spool.SpawnTool, fmt.Sprintf(`{"name":"helper","instructions":"%s%d"}`, prompt, i)
				}
			}
			out.Calls = append(out.Calls, call)
		}
		return out
	}
}

// play does a few acts, waits a while behind each of them, and lets everything end.
func (c *campaign) play() {
	c.start()
	working, leave := c.work(), c.follow()
	for range 3 + c.rand.IntN(6) {
		c.rest(time.Duration(c.rand.IntN(10)) * instant)
		switch c.rand.IntN(9) {
		case 0, 1, 2:
			c.start()
		case 3, 4, 5:
			c.answer()
		case 6:
			_, _ = c.engine.Stop(c.t.Context(), seedKey)
		case 7:
			working() // the segment is lost, and another worker goes on
			working = c.work()
		case 8:
			c.restore()
		}
	}
	for range 100 {
		c.rest(45 * time.Second) // longer than a question waits
		if s := c.snapshot(); s.Thread.State.Terminal() && len(s.Queue) == 0 {
			break
		}
		c.answer()
	}
	leave()
	working()
	if !c.shown.Settled() || len(c.shown.Drafts()) > 0 {
		c.t.Errorf("seed %d: at rest the view is settled: %t, with %d drafts", c.line.Seed, c.shown.Settled(),
			len(c.shown.Drafts()))
	}
}

// instant is how far apart commits are, at least, as far as they do not follow from each other at once.
const instant = 500 * time.Millisecond

// rest waits, and compares the view with a snapshot behind each instant at which something was committed.
func (c *campaign) rest(d time.Duration) {
	for ; d >= 0 && !c.t.Failed(); d -= instant {
		<-time.After(instant)
		synctest.Wait()
		c.mu.Lock()
		if n := len(c.line.Frames); n > c.seen {
			c.seen = n
			c.compare()
		}
		c.mu.Unlock()
	}
}

func (c *campaign) work() (stop func()) {
	ctx, cancel := context.WithCancel(c.t.Context())
	done := make(chan error, 1)
	go func() { done <- c.engine.Work(ctx, engine.WorkOptions{}) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			c.t.Error(err)
		}
	}
}

func (c *campaign) start() {
	c.turns++
	r := wire.StartRequest{Prompt: "w" + strconv.Itoa(c.turns), RunID: spool.RunID("r" + strconv.Itoa(c.turns))}
	r.WhenBusy = []spool.WhenBusy{
		"", spool.BusyEnqueue, spool.BusyLatest, spool.BusyInterrupt, spool.BusyRollback, spool.BusySteer,
	}[c.rand.IntN(6)]
	if c.turns > 1 && c.rand.IntN(4) == 0 {
		if messages := c.snapshot().Messages; len(messages) > 0 {
			r.EditMessageID = messages[c.rand.IntN(len(messages))].ID
		}
	}
	_, _ = c.engine.Run(c.t.Context(), seedKey, r) // most are refused for a thread that is busy, or a message of nobody
}

func (c *campaign) answer() {
	for _, p := range view.New(c.snapshot()).Parks() {
		r := wire.Response{ToolCallID: p.ToolCallID, Approved: c.rand.IntN(3) > 0, Digest: p.Digest}
		_, _ = c.engine.Respond(c.t.Context(), seedKey, r)
		if c.rand.IntN(2) == 0 {
			return
		}
	}
}

func (c *campaign) restore() {
	synctest.Wait()
	c.mu.Lock()
	branches := slices.Clone(c.branches)
	c.mu.Unlock()
	if n := len(branches); n > 0 {
		_, _ = c.engine.RestoreBranch(c.t.Context(), seedKey, branches[c.rand.IntN(n)])
	}
}

func (c *campaign) snapshot() *wire.Snapshot {
	s, err := c.engine.Snapshot(context.Background(), seedKey, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return s
}

// follow applies frames until it is left.
func (c *campaign) follow() (leave func()) {
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	s := c.snapshot()
	c.shown, c.line.Snapshot = view.New(s), rawOf(c.t, s)
	go func() {
		defer close(over)
		for f, err := range c.engine.Follow(ctx, seedKey, wire.FollowOptions{Cursor: c.shown.Cursor()}) {
			if err != nil {
				return
			}
			c.apply(f)
		}
	}()
	return func() {
		cancel()
		<-over
	}
}

// apply applies a frame as a client gets it.
func (c *campaign) apply(f wire.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := framed{Frame: rawOf(c.t, f)}
	if f.Cursor != nil {
		at := f.Cursor.String()
		in.ID = &at
	}
	var read wire.Frame
	if err := json.Unmarshal(in.Frame, &read); err != nil {
		c.t.Error(err)
	}
	read.Cursor = f.Cursor
	if err := c.shown.Apply(read); err != nil {
		c.t.Errorf("seed %d: %v", c.line.Seed, err)
	}
	c.line.Frames = append(c.line.Frames, in)
	if f.Event != nil && f.Event.Type == wire.EntryMessagesDropped {
		c.branches = append(c.branches, wire.BranchID(f.Event.Seq))
	}
	if c.kept && (f.Event != nil && f.Event.Seq > 0 || f.Snapshot != nil ||
		f.Item != nil && f.Item.Type == wire.ItemStepFinished) {
		text := rawOf(c.t, c.shown)
		now := seen{Behind: len(c.line.Frames), Digest: digestOf(c.t, text)}
		if c.whole {
			now.View = text
		}
		c.line.Views = append(c.line.Views, now)
	}
}

// compare compares the view with a snapshot.
func (c *campaign) compare() {
	c.compared++
	saved := view.New(c.snapshot())
	if diff := cmp.Diff(c.saidIn(saved), c.saidIn(c.shown)); diff != "" {
		last := c.line.Frames[len(c.line.Frames)-1].Frame
		c.t.Errorf("seed %d, behind frame %d, %s: the view shows (-snapshot +view):\n%s", c.line.Seed, len(c.line.Frames),
			last, diff)
	}
}

// saidIn returns what a view shows, each agent by itself. Results stand in the order of their text, as calls at the
// same time end in any order. The prompts of nested runs, and some runs, come with snapshots only.
func (c *campaign) saidIn(v *view.Thread) map[string][]string {
	said := map[string][]string{"thread": {string(v.State()), strconv.Itoa(len(v.Queue()))}}
	for _, m := range slices.Concat(v.Messages(), v.Drafts()) {
		if m.AgentID != "" && m.Role == spool.RoleUser {
			continue
		}
		of := string(m.AgentID)
		if m.Role == spool.RoleTool {
			of += " results"
		}
		for _, p := range m.Content {
			text := fmt.Sprintf("%s %s %s%s", p.Type, p.Text, p.URL, p.ToolCallID)
			said[of] = append(said[of], text+compact(p.Args)+compact(p.Result))
		}
	}
	for of, lines := range said {
		if strings.HasSuffix(of, " results") {
			slices.Sort(lines)
		}
	}
	for _, p := range v.Parks() {
		said["parks"] = append(said["parks"], fmt.Sprint(p.ToolCallID, p.Reason, p.RunID, p.ExpiresAt.Unix()))
	}
	slices.Sort(said["parks"])
	for _, p := range v.Pending() {
		said["pending"] = append(said["pending"], fmt.Sprint(p.ToolCallID, p.RunID))
	}
	for _, r := range v.Runs() {
		is := func(other wire.Run) bool { return other.ID == r.ID }
		if slices.ContainsFunc(c.shown.Runs(), is) && !slices.ContainsFunc(c.shown.Untold(), is) {
			said["runs"] = append(said["runs"], fmt.Sprint(r.ID, r.State, r.ParentID, r.Depth, r.Error))
		}
	}
	return said
}
