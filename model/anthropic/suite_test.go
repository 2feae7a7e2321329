package anthropic_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/spooltest"
)

// play answers a scenario of the suite.
func play(scenario spooltest.ModelScenario, r fake.Request) fake.Answer {
	switch scenario {
	case spooltest.ModelText:
		a := blocks(fake.Text("Hello, world."))
		a.Start, a.End = map[string]any{"input_tokens": 12, "output_tokens": 1}, map[string]any{"output_tokens": 4}
		return a
	case spooltest.ModelReasoning:
		return blocks(fake.Block{Type: "thinking", Text: "Thinking hard.", Signature: "sig-4711"}, fake.Text("Forty-two."))
	case spooltest.ModelImage:
		return blocks(fake.Text("A cat."))
	case spooltest.ModelFile:
		return blocks(fake.Text("A report."))
	case spooltest.ModelOutput:
		return playOutput(r)
	case spooltest.ModelCachedUsage:
		a := blocks(fake.Text("Hi."))
		a.Start = map[string]any{
			"input_tokens": 30, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 10, "output_tokens": 1,
		}
		a.End = map[string]any{"output_tokens": 20, "output_tokens_details": map[string]any{"thinking_tokens": 8}}
		return a
	case spooltest.ModelNoUsage:
		a := blocks(fake.Text("Hi."))
		a.Start, a.End = map[string]any{}, map[string]any{}
		return a
	case spooltest.ModelUnknownEvents:
		a := blocks(fake.Text("Hello, world."))
		a.Piece, a.Fault, a.After = 7, fake.FaultGarbage, 4
		a.Garbage = "event: spooltest.unknown\ndata: {\"type\":\"spooltest.unknown\",\"index\":[]}\n\n: a comment\n\n" +
			"event: ping\ndata: {\"type\":\"ping\",\"more\":{}}\n\n"
		return a
	case spooltest.ModelForeign, spooltest.ModelCallIDs:
		if strings.Contains(string(r.Raw), "foreign+") {
			return refused("foreign data")
		}
		return blocks(fake.Text("Fine."))
	case spooltest.ModelSigned:
		return playSigned(r)
	case spooltest.ModelNoCalls:
		if r.ToolChoice == "none" {
			return blocks(fake.Text("Done."))
		}
		return blocks(fake.Call("weather", `{"city":"Oslo"}`))
	default:
		return playCalls(scenario, r)
	}
}

func refused(why string) fake.Answer {
	return fake.Answer{Error: &fake.Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Message: why}}
}

func playCalls(scenario spooltest.ModelScenario, r fake.Request) fake.Answer {
	if len(r.Results()) > 0 {
		return blocks(fake.Text("Done."))
	}
	switch scenario {
	case spooltest.ModelParallelTools:
		return blocks(fake.Text("Looking."), fake.Call("weather", `{"city":"Oslo"}`), fake.Call("clock", `{"zone":"UTC"}`))
	case spooltest.ModelWholeCalls:
		a := blocks(fake.Call("weather", `{"city":"Oslo"}`), fake.Block{Type: "tool_use", Name: "coin", Pieces: []string{}})
		a.Piece = 100
		return a
	case spooltest.ModelBrokenArguments:
		return blocks(fake.Block{Type: "tool_use", Name: "weather", Pieces: []string{`{"city":`, `"Os`}})
	case spooltest.ModelEndlessArguments:
		a := blocks(fake.Call("weather", `{"city":"Oslo"}`))
		a.Fault, a.After = fake.FaultFlood, 4
		a.Garbage = "event: content_block_delta\n" +
			`data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"` +
			strings.Repeat("x", 200<<10) + "\"}}\n\n"
		return a
	default:
		return playEnds(scenario, r)
	}
}

// playEnds answers with an end of its own.
func playEnds(scenario spooltest.ModelScenario, r fake.Request) fake.Answer {
	ends := func(text, stop string) fake.Answer {
		a := blocks(fake.Text(text))
		a.Stop = stop
		return a
	}
	switch scenario {
	case spooltest.ModelLength:
		return ends("Too lo", "max_tokens")
	case spooltest.ModelFilter:
		return ends("I can", "refusal")
	case spooltest.ModelUnknownReason:
		return ends("Odd.", "spooltest_odd")
	case spooltest.ModelPause:
		switch last := r.Messages[len(r.Messages)-1]; {
		case len(r.Messages) == 1:
			return ends("Half", "pause_turn")
		case len(r.Messages) == 2 && last.Role == "assistant" && len(last.Content) == 1 && *last.Content[0].Text == "Half":
			return ends(" done.", "")
		default:
			return refused("this is not the answer that was paused")
		}
	default:
		return playFault(scenario, r)
	}
}

func playFault(scenario spooltest.ModelScenario, r fake.Request) fake.Answer {
	half := fake.Answer{Blocks: []fake.Block{fake.Text("Half")}, After: 4}
	switch scenario {
	case spooltest.ModelStreamError:
		half.Fault, half.Late = fake.FaultError, fake.Error{Type: "overloaded_error", Message: "Overloaded"}
	case spooltest.ModelCut:
		half.Fault = fake.FaultCut
	case spooltest.ModelNoFinish:
		half.Fault = fake.FaultEnd
	case spooltest.ModelBrokenJSON:
		half.Fault, half.Garbage = fake.FaultGarbage, "event: content_block_delta\ndata: {\"oops\n\n"
	case spooltest.ModelWrongShape:
		half.Fault = fake.FaultGarbage
		half.Garbage = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":[1]}\n\n"
	case spooltest.ModelHugeEvent:
		half.Fault, half.Garbage = fake.FaultFlood, strings.Repeat("x", 256<<10)
	case spooltest.ModelHangAtOnce:
		half.Fault, half.After = fake.FaultStall, -1
	case spooltest.ModelHang, spooltest.ModelIdle:
		half.Fault = fake.FaultStall
	default:
		return playRefusal(scenario, r)
	}
	return half
}

func playRefusal(scenario spooltest.ModelScenario, r fake.Request) fake.Answer {
	limited := &fake.Error{
		Status: http.StatusTooManyRequests, Type: "rate_limit_error", Message: "slow down", Header: make(http.Header),
	}
	switch scenario {
	case spooltest.ModelRateLimited:
		limited.Header.Set("Retry-After", "7")
		return fake.Answer{Error: limited}
	case spooltest.ModelRateLimitedDate:
		limited.Header.Set("Retry-After", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat))
		return fake.Answer{Error: limited}
	case spooltest.ModelRateLimitedBare:
		return fake.Answer{Error: limited}
	case spooltest.ModelUnavailable:
		return fake.Answer{Error: &fake.Error{Status: http.StatusServiceUnavailable, Body: "<html>overloaded</html>"}}
	case spooltest.ModelContextOverflow:
		return refused("prompt is too long: 210032 tokens > 200000 maximum")
	case spooltest.ModelUnauthorized:
		return fake.Answer{Error: &fake.Error{
			Status: http.StatusUnauthorized, Type: "authentication_error",
			Message: "wrong key: " + r.Header.Get("X-Api-Key") + strings.Repeat(" and more", 2000),
		}}
	default:
		return refused("unknown scenario " + string(scenario))
	}
}

// playOutput gives the value in the way in which the request asks for it.
func playOutput(r fake.Request) fake.Answer {
	const value = `{"city":"Oslo","degrees":21}`
	tools := make(map[string]bool)
	for _, tool := range r.Tools {
		tools[tool.Name] = true
	}
	switch {
	case tools["weather"] && len(r.Results()) == 0:
		return blocks(fake.Text("Let me look."), fake.Call("weather", `{"city":"Oslo"}`))
	case r.Schema != nil:
		return blocks(fake.Text(value))
	case tools["weather_report"] && (r.ToolChoice == "any" || r.Forced == "weather_report" ||
		r.Thinking != "" && r.ToolChoice == "auto"):
		return blocks(fake.Block{Type: "thinking", Text: "I know it.", Loose: true}, fake.Text("Here it is:"),
			fake.Call("weather_report", value))
	default:
		return refused("no value is asked for")
	}
}

var signedBlocks = []fake.Block{
	{Type: "thinking", Text: "First thought.", Signature: "sigR1/+A"},
	{Type: "redacted_thinking", Signature: "sealed/A"},
	{Type: "text", Text: "Looking.", Cited: true, Signature: "sigT1/+A"},
	{
		Type: "server_tool_use",
		Raw:  json.RawMessage(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"part/++A"}}`),
	},
	{Type: "thinking", Text: "Second thought.", Signature: "sigR2/+A"},
	{
		Type: "tool_use", ID: "toolu_weather", Name: "weather", Args: `{"city":"Oslo"}`,
		Caller: map[string]any{"type": "code_execution_20250825", "tool_id": "sigC1/+A"},
	},
	{Type: "tool_use", ID: "toolu_clock", Name: "clock", Args: `{"zone":"UTC"}`},
}

// signedContent is what a request of the same model has to repeat.
const signedContent = `[
	{"type":"thinking","thinking":"First thought.","signature":"sigR1/+A"},
	{"type":"redacted_thinking","data":"sealed/A"},
	{"type":"text","text":"Looking.","citations":[{"type":"web_search_result_location","cited_text":"quoted","url":"https://example.com/","title":"Example","encrypted_index":"sigT1/+A"}]},
	{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"part/++A"}},
	{"type":"thinking","thinking":"Second thought.","signature":"sigR2/+A"},
	{"type":"tool_use","id":"toolu_weather","name":"weather","input":{"city":"Oslo"},"caller":{"type":"code_execution_20250825","tool_id":"sigC1/+A"}},
	{"type":"tool_use","id":"toolu_clock","name":"clock","input":{"zone":"UTC"}}
]`

func playSigned(r fake.Request) fake.Answer {
	if len(r.Messages) == 1 {
		return blocks(signedBlocks...)
	}
	var sent struct {
		Messages []struct {
			Content any `json:"content"`
		} `json:"messages"`
	}
	var want any
	if json.Unmarshal(r.Raw, &sent) != nil || json.Unmarshal([]byte(signedContent), &want) != nil {
		return refused("no JSON")
	}
	if same := reflect.DeepEqual(sent.Messages[1].Content, want); same != (r.Model == modelName) {
		return refused("the blocks are not what the model gets back")
	}
	return blocks(fake.Text("Done."))
}

func TestModel(t *testing.T) { //nolint:paralleltest // the suite is
	testSuite(t, anthropic.Config{})
}

// The other way to an output, without thinking and with it.
func TestModelWithForcedOutput(t *testing.T) { //nolint:paralleltest // the suite is
	testSuite(t, anthropic.Config{Output: anthropic.OutputTool})
}

func TestModelWithOutputAndThinking(t *testing.T) { //nolint:paralleltest // the suite is
	testSuite(t, anthropic.Config{
		Output: anthropic.OutputTool, Thinking: anthropic.Thinking{Mode: anthropic.ThinkingAdaptive},
	})
}

func testSuite(t *testing.T, config anthropic.Config) {
	t.Helper()

	spooltest.TestModel(t, func(t *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
		t.Helper()

		server, url := newPeer(t, func(r fake.Request) fake.Answer { return play(scenario, r) })
		config := config
		config.APIKey = spooltest.ModelSecret
		if scenario == spooltest.ModelIdle {
			config.IdleTimeout = 50 * time.Millisecond
		}
		t.Cleanup(func() {
			if problems := server.Problems(); len(problems) > 0 && scenario != spooltest.ModelSigned {
				t.Errorf("refused: %q", problems)
			}
		})
		other := config
		other.Model = "claude-other-5"
		return spooltest.ModelPeer{
			Model: newModel(t, url, config), Other: newModel(t, url, other), Requests: server.Requests, Gone: server.Gone(),
		}
	}, spooltest.ModelFeatures{
		CachedUsage: true, Files: true, Images: true, Pause: true, ProviderParts: true, RetryAfterDate: true,
		SealedReasoning: true, SignedCalls: true, SignedReasoning: true, SignedText: true, TextArguments: true,
	})
}
