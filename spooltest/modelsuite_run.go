package spooltest

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// TestModel checks that an adapter keeps the contract of [spool.Model]. Open is called for each subtest,
// and again for each attempt of a subtest that measures time. It returns a model whose key is
// [ModelSecret], and a provider that answers it according to the scenario.
func TestModel(t *testing.T, open func(t *testing.T, scenario ModelScenario) ModelPeer, features ModelFeatures) {
	t.Helper()
	t.Parallel()

	s := modelSuite{open: open, features: features}
	for _, group := range []map[string]func(*testing.T){s.answers(), s.errors(), s.ends()} {
		for name, test := range group {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t)
			})
		}
	}
}

type modelSuite struct {
	open     func(t *testing.T, scenario ModelScenario) ModelPeer
	features ModelFeatures
}

// answers are the tests of answers that finish.
func (s modelSuite) answers() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"Text":            s.text,
		"ParallelTools":   s.parallelTools,
		"NoCalls":         s.noCalls,
		"WholeCalls":      s.wholeCalls,
		"BrokenArguments": s.when(s.features.TextArguments, s.brokenArguments),
		"Reasoning":       s.reasoning,
		"Signed":          s.signed,
		"Foreign":         s.foreign,
		"CallIDs":         s.provided(s.callIDs),
		"Image":           s.when(s.features.Images, s.image),
		"File":            s.when(s.features.Files, s.file),
		"Output":          s.output,
		"OutputAfterTool": s.outputAfterTool,
		"CachedUsage":     s.when(s.features.CachedUsage, s.cachedUsage),
		"NoUsage":         s.provided(s.noUsage),
		"Length":          s.length,
		"Filter":          s.provided(s.filter),
		"Pause":           s.when(s.features.Pause, s.pause),
		"UnknownReason":   s.provided(s.unknownReason),
		"UnknownEvents":   s.provided(s.unknownEvents),
	}
}

// errors are the tests of requests that the provider refuses, and of answers that it does not finish.
func (s modelSuite) errors() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"RateLimited":     s.provided(s.rateLimited),
		"RateLimitedDate": s.when(s.features.RetryAfterDate, s.rateLimitedDate),
		"RateLimitedBare": s.provided(s.rateLimitedBare),
		"Unavailable":     s.provided(s.unavailable),
		"Unauthorized":    s.provided(s.unauthorized),
		"ContextOverflow": s.provided(s.contextOverflow),
		"StreamError":     s.provided(s.broken(ModelStreamError)),
		"Cut":             s.provided(s.broken(ModelCut)),
		"NoFinish":        s.provided(s.broken(ModelNoFinish)),
		"BrokenJSON":      s.provided(s.broken(ModelBrokenJSON)),
		"WrongShape":      s.provided(s.broken(ModelWrongShape)),
		"Idle":            s.provided(s.broken(ModelIdle)),
	}
}

// ends are the tests of answers that somebody has to end.
func (s modelSuite) ends() map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"Cancel":            s.cancel,
		"CancelBeforeWords": s.cancelBeforeWords,
		"CancelledAlready":  s.cancelledAlready,
		"StopIterating":     s.stopIterating,
		"HugeEvent":         s.provided(s.hugeEvent),
		"EndlessArguments":  s.provided(s.endlessArguments),
	}
}

// when skips a test if the model lacks the feature that it needs.
func (s modelSuite) when(feature bool, test func(*testing.T)) func(*testing.T) {
	if feature {
		return test
	}
	return func(t *testing.T) { t.Skip("the provider's interface cannot express it") }
}

// provided skips a test if the model has no provider.
func (s modelSuite) provided(test func(*testing.T)) func(*testing.T) {
	return s.when(!s.features.Local, test)
}

func userText(text string) spool.Message {
	return spool.Message{Role: spool.RoleUser, Content: spool.TextContent(text)}
}

func modelTools() []spool.ToolSpec {
	parameters := json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"zone":{"type":"string"}}}`)
	return []spool.ToolSpec{
		{Name: "weather", Description: "Tells the weather.", Parameters: parameters},
		{Name: "clock", Description: "Tells the time.", Parameters: parameters},
		{Name: "coin", Description: "Flips a coin."},
	}
}

// toolResults returns a message with a result for each call.
func toolResults(calls []spool.Part, results ...string) spool.Message {
	m := spool.Message{Role: spool.RoleTool}
	for i, c := range calls {
		m.Content = append(m.Content, spool.Part{
			Type: spool.PartToolResult, ToolCallID: c.ToolCallID, ToolName: c.ToolName, Result: json.RawMessage(results[i]),
		})
	}
	return m
}

// wantText checks the text of an answer. The text of a local model must not be empty.
func (s modelSuite) wantText(t *testing.T, got, want string) {
	t.Helper()

	if got != want && (!s.features.Local || got == "") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// wantCount checks a count of tokens. A local model must report some count.
func (s modelSuite) wantCount(t *testing.T, what string, got *int64, want int64) {
	t.Helper()

	switch {
	case got == nil:
		t.Errorf("%s tokens: not reported, want %d", what, want)
	case *got != want && !s.features.Local:
		t.Errorf("%s tokens: %d, want %d", what, *got, want)
	}
}

// wantInRequest checks that the provider has received n+1 requests, and that the last one has all texts.
func (s modelSuite) wantInRequest(t *testing.T, p ModelPeer, n int, wants ...string) {
	t.Helper()

	if s.features.Local {
		return
	}
	requests := p.Requests()
	if len(requests) != n+1 {
		t.Fatalf("the provider got %d requests, want %d", len(requests), n+1)
	}
	for _, want := range wants {
		if !strings.Contains(requests[n], want) {
			t.Errorf("%q is not in the request %s", want, requests[n])
		}
	}
}

// hasData reports whether a text has the data, as they are or as bytes.
func hasData(text, data string) bool {
	return strings.Contains(text, data) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte(data)))
}
