package form

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// What is encoded is read again, and the zero value takes no space.
func TestRunEncoded(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]store.RunRow{
		"Bare": {},
		"Whole": {
			Run: wire.Run{
				CallID: "c", Prompt: "look", Result: &wire.NestedResult{},
				Allowance: &wire.Allowance{Budget: spool.Budget{Tokens: 9}},
			},
			RunState: store.RunState{
				Revision: "v1", Scopes: []string{"a", `b"c`}, HostState: json.RawMessage(`{"h":1}`),
				ProviderOptions: json.RawMessage(`{}`), Client: &wire.ClientInput{Context: []wire.ClientContext{{}}}, StartKey: "k",
				StartHash: "h", Nonce: "n",
			},
		},
		"Plain scopes": {RunState: store.RunState{Scopes: []string{"a", "b,c", ""}}},
	} {
		e, err := EncodeRun(&run)
		if err != nil {
			t.Fatal(err)
		}
		run.Expired = wire.Expired{Questions: 2, Since: FromMicros(3)}
		if name == "Bare" && len(e.State)+len(e.Nested)+len(e.Allowance)+len(e.Client)+len(EncodeScopes(run.Scopes)) > 0 {
			t.Errorf("a run without anything is stored as %s", e)
		}
		columns := make([]any, 39)
		columns[25], columns[28] = e.Nested, e.Allowance
		columns[29], columns[30], columns[31], columns[32], columns[33] = 2, 3, e.State, run.StartKey, run.StartHash
		columns[34], columns[35], columns[36], columns[37], columns[38] = run.Nonce, EncodeScopes(run.Scopes), run.HostState,
			run.ProviderOptions, e.Client
		for i, c := range columns {
			if text, ok := c.(json.RawMessage); ok && text == nil {
				columns[i] = nil
			}
		}
		r := &values{t: t, all: columns}
		if diff := cmp.Diff(run, ScanWholeRun(r)); diff != "" || r.err != nil {
			t.Errorf("%s: %v (-stored +read):\n%s", name, r.err, diff)
		}
	}
}

func TestRunThatCannotBeEncoded(t *testing.T) {
	t.Parallel()
	client := &wire.ClientInput{Tools: []wire.ClientTool{{Parameters: json.RawMessage("{")}}}
	_, err := EncodeRun(&store.RunRow{RunState: store.RunState{Client: client}})
	wantInvalid(t, err, "what the run's client has brought cannot be encoded")
}

func TestPlainStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`["a"]`: {"a"}, `["a","b c"]`: {"a", "b c"}, `[""]`: {""}, `["a,b","]["]`: {"a,b", "]["},
		`[]`: nil, `["]`: nil, `["a", "b"]`: nil, `["\u0061"]`: nil, `["a",1,"b"]`: nil, `"a"`: nil, "": nil,
	} {
		got, ok := plainStrings(text)
		if ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %t, want %q", text, got, ok, want)
		}
		var all []string
		if err := json.Unmarshal([]byte(text), &all); ok && (err != nil || !slices.Equal(got, all)) {
			t.Errorf("%s: %q, and package json says %q, %v", text, got, all, err)
		}
	}
}

func TestStoredRun(t *testing.T) {
	t.Parallel()
	tokens := spool.TokenCount{InputTokens: 4, CachedInputTokens: 3, OutputTokens: 2, TotalTokens: 6}
	run := store.RunRow{Run: wire.Run{ID: "r", State: wire.Queued, QueuePosition: 2, TokenCount: tokens}}
	began := StoredOf(&run)
	run.Wait = &store.Wait{}
	waits := StoredOf(&run)
	if waits.ID != "r" || waits.State != wire.Queued || waits.Place != 2 || waits.Tokens != tokens || waits.Wait == 0 ||
		began.Wait != 0 {
		t.Errorf("the stored values are %+v and %+v", began, waits)
	}
	for _, c := range []struct {
		old, next StoredRun
		want      int
	}{{began, began, 0}, {began, waits, waits.Wait}, {waits, waits, 0}, {waits, began, 0}} {
		if got := c.old.WaitGrowth(&c.next); got != c.want {
			t.Errorf("from %d to %d bytes: grows by %d, want %d", c.old.Wait, c.next.Wait, got, c.want)
		}
	}
	if want := (spool.TokenCount{
		InputTokens: -4, CachedInputTokens: -3, OutputTokens: -2, TotalTokens: -6,
	}); waits.TokensOf(-1) != want {
		t.Errorf("a run that is taken out counts %+v", waits.TokensOf(-1))
	}
	nested := StoredRun{Depth: 1, Tokens: tokens}
	if got := nested.TokensOf(1); got != (spool.TokenCount{}) {
		t.Errorf("a nested run counts %+v", got)
	}
}
