package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/openai"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/spooltest"
)

func TestModel(t *testing.T) { //nolint:paralleltest // the suite is
	testModel(t, openai.Config{})
}

func TestModelWithOutputTool(t *testing.T) { //nolint:paralleltest // the suite is
	testModel(t, openai.Config{Structured: openai.StructuredTool})
}

func testModel(t *testing.T, config openai.Config) {
	t.Helper()

	spooltest.TestModel(t, func(t *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
		t.Helper()

		var p *peer
		p = newPeer(t, func(w http.ResponseWriter, r *http.Request, body string) { p.play(scenario)(w, r, body) })
		config := config
		config.APIKey = spooltest.ModelSecret
		if scenario == spooltest.ModelIdle {
			config.IdleTimeout = 50 * time.Millisecond
		}
		other := config
		other.Model = "other-model"
		return spooltest.ModelPeer{Model: p.model(t, config), Other: p.model(t, other), Requests: p.requests, Gone: p.gone}
	}, spooltest.ModelFeatures{
		CachedUsage: true, Files: true, Images: true, RetryAfterDate: true, SealedReasoning: true, SignedCalls: true,
		SignedReasoning: true, TextArguments: true,
	})
}

// play answers in the manner of OpenAI, or of OpenRouter where OpenAI has no word for it.
func (p *peer) play(scenario spooltest.ModelScenario) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, r *http.Request, body string) {
		switch scenario {
		case spooltest.ModelText:
			send(w, deltaChunk(`{"role":"assistant","content":""}`), textChunk("Hello"), textChunk(", world."),
				finishChunk("stop"), usageChunk(`{"prompt_tokens":12,"completion_tokens":4}`), "[DONE]")
		case spooltest.ModelParallelTools:
			p.playTools(w, body)
		case spooltest.ModelNoCalls:
			p.playNoCalls(w, body)
		case spooltest.ModelWholeCalls:
			send(w,
				deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}`),
				deltaChunk(`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"coin","arguments":""}}]}`),
				finishChunk("tool_calls"), "[DONE]")
		case spooltest.ModelBrokenArguments:
			p.playBrokenArguments(w, body)
		case spooltest.ModelSigned:
			p.playSigned(w, body)
		case spooltest.ModelCallIDs:
			if _, problem := fake.Read([]byte(body)); problem != "" {
				refuse(w, "invalid_request_error", problem)
				return
			}
			send(w, textChunk("Fi"), textChunk("ne."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelForeign:
			if strings.Contains(body, "foreign+") {
				refuse(w, "invalid_request_error", "unknown data")
				return
			}
			send(w, textChunk("Fi"), textChunk("ne."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelReasoning:
			send(w,
				deltaChunk(`{"reasoning":"Thinking ","reasoning_details":[{"type":"reasoning.text","index":0,"text":"Thinking "}]}`),
				deltaChunk(`{"reasoning":"hard.","reasoning_details":[{"type":"reasoning.text","index":0,"text":"hard."}]}`),
				deltaChunk(`{"reasoning_details":[{"type":"reasoning.text","index":0,"signature":"sig-4711"}]}`),
				textChunk("Forty"), textChunk("-two."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelImage:
			send(w, textChunk("A "), textChunk("cat."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelFile:
			send(w, textChunk("A "), textChunk("report."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelOutput:
			p.playOutput(w, body)
		case spooltest.ModelCachedUsage:
			send(w, textChunk("Hi."), finishChunk("stop"), usageChunk(
				`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":8}}`),
				"[DONE]")
		case spooltest.ModelNoUsage:
			send(w, textChunk("Hi."), finishChunk("stop"), "[DONE]")
		case spooltest.ModelLength:
			send(w, textChunk("Too "), textChunk("lo"), finishChunk("length"), "[DONE]")
		case spooltest.ModelFilter:
			send(w, textChunk("I "), textChunk("can"), finishChunk("content_filter"), "[DONE]")
		case spooltest.ModelUnknownReason:
			send(w, textChunk("O"), textChunk("dd."), finishChunk("spooltest_odd"), "[DONE]")
		case spooltest.ModelUnknownEvents:
			send(w, textChunk("Hello"))
			_, _ = io.WriteString(w, ": a comment\n\nevent: spooltest.unknown\n\n")
			send(w, `{"object":"spooltest.unknown","id":"c1"}`, deltaChunk(`{"content":", world.","spooltest_unknown":[1]}`),
				finishChunk("stop"), "[DONE]")
		default:
			p.playFailure(scenario, w, r)
		}
	}
}

func (p *peer) playTools(w http.ResponseWriter, body string) {
	if strings.Contains(body, `"role":"tool"`) {
		send(w, textChunk("Done."), finishChunk("stop"), "[DONE]")
		return
	}
	send(w, textChunk("Looking."),
		deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":""}}]}`),
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":"}}]}`),
		deltaChunk(`{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"clock","arguments":""}}]}`),
		deltaChunk(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Oslo\"}"}},{"index":1,"function":{"arguments":"{\"zone\":\"UTC\"}"}}]}`),
		finishChunk("tool_calls"), "[DONE]")
}

// playNoCalls calls a tool as long as the request lets it.
func (p *peer) playNoCalls(w http.ResponseWriter, body string) {
	request, problem := fake.Read([]byte(body))
	switch {
	case problem != "":
		refuse(w, "invalid_request_error", problem)
	case request.NoCalls:
		send(w, textChunk("Do"), textChunk("ne."), finishChunk("stop"), "[DONE]")
	default:
		send(w,
			deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]}`),
			finishChunk("tool_calls"), "[DONE]")
	}
}

func (p *peer) playFailure(scenario spooltest.ModelScenario, w http.ResponseWriter, r *http.Request) {
	switch scenario {
	case spooltest.ModelRateLimited:
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}`)
	case spooltest.ModelRateLimitedDate:
		w.Header().Set("Retry-After", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusTooManyRequests)
	case spooltest.ModelRateLimitedBare:
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"error":{"message":"slow down"}}`)
	case spooltest.ModelContextOverflow:
		refuse(w, "context_length_exceeded", "This model's maximum context length is 128000 tokens.")
	case spooltest.ModelBrokenJSON:
		send(w, textChunk("Half"), `{"oops`, textChunk(" more"), finishChunk("stop"), "[DONE]")
	case spooltest.ModelWrongShape:
		send(w, textChunk("Half"), `{"choices":42}`, textChunk(" more"), finishChunk("stop"), "[DONE]")
	case spooltest.ModelHugeEvent:
		send(w, textChunk("Half"))
		p.endless(w, r, `data: {"choices":[{"index":0,"delta":{"content":"`, strings.Repeat("x", 256<<10))
	case spooltest.ModelEndlessArguments:
		p.endless(w, r, "",
			"data: "+deltaChunk(`{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"weather","arguments":"`+
				strings.Repeat("x", 128<<10)+`"}}]}`)+"\n\n")
	case spooltest.ModelUnavailable:
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "<html>overloaded</html>")
	case spooltest.ModelUnauthorized:
		w.WriteHeader(http.StatusUnauthorized)
		message := "wrong key: " + r.Header.Get("Authorization") + strings.Repeat(" and more", 2000)
		_, _ = io.WriteString(w, `{"error":{"message":"`+message+`","code":"invalid_api_key"}}`)
	case spooltest.ModelStreamError:
		send(w, textChunk("Half"), `{"error":{"message":"upstream overloaded","type":"server_error","code":502}}`)
	case spooltest.ModelCut:
		send(w, textChunk("Half"))
		panic(http.ErrAbortHandler)
	case spooltest.ModelNoFinish:
		send(w, textChunk("Half"))
	case spooltest.ModelHangAtOnce:
		p.hang(r)
	default:
		send(w, textChunk("Half"))
		p.hang(r)
	}
}
