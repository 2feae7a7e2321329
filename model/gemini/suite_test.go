package gemini_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/model/gemini"
	"github.com/spoolhq/spool/spooltest"
)

func TestModel(t *testing.T) { //nolint:paralleltest // the suite is
	testSuite(t, testModel)
}

// An old model gets an output schema in another way, and signs nothing that it wants back.
func TestOldModel(t *testing.T) { //nolint:paralleltest // the suite is
	testSuite(t, "gemini-2.5-test")
}

func testSuite(t *testing.T, model string) {
	t.Helper()

	spooltest.TestModel(t, func(t *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
		t.Helper()

		var p *peer
		p = newPeer(t, fake.Config{
			Key:     spooltest.ModelSecret,
			Signing: fake.SignNone, // the scenarios have signatures of their own
			Unknown: []string{"spooltest_extra"},
			Answer:  func(r *fake.Request) fake.Answer { return p.play(scenario, r) },
		})
		config := gemini.Config{APIKey: spooltest.ModelSecret, Model: model}
		if scenario == spooltest.ModelIdle {
			config.IdleTimeout = 50 * time.Millisecond
		}
		other := config
		other.Model = model + "-other"
		return spooltest.ModelPeer{Model: p.model(t, config), Other: p.model(t, other), Requests: p.Requests, Gone: p.gone}
	}, spooltest.ModelFeatures{
		CachedUsage: true, Files: true, Images: true, ProviderParts: true, RetryAfterDate: true, SealedReasoning: true,
		SignedCalls: true, SignedReasoning: true, SignedText: true,
	})
}

// play returns the answer of a scenario.
func (p *peer) play(scenario spooltest.ModelScenario, r *fake.Request) fake.Answer {
	switch scenario {
	case spooltest.ModelText:
		return fake.Answer{Parts: []fake.Part{fake.Text("Hello, world.")}, Usage: &fake.Usage{Prompt: 12, Candidates: 4}}
	case spooltest.ModelParallelTools:
		return afterResponses(r, fake.Text("Looking."), weather(), clock())
	case spooltest.ModelNoCalls:
		if r.Mode == "NONE" {
			return fake.Answer{Parts: []fake.Part{fake.Text("Done.")}}
		}
		return fake.Answer{Parts: []fake.Part{weather()}}
	case spooltest.ModelWholeCalls:
		return fake.Answer{Parts: []fake.Part{weather(), fake.FunctionCall("coin", "")}}
	case spooltest.ModelReasoning:
		return fake.Answer{
			Parts: []fake.Part{signed(fake.Thought("Thinking hard."), "sig-4711"), fake.Text("Forty-two.")}, Whole: true,
		}
	case spooltest.ModelImage:
		return fake.Answer{Parts: []fake.Part{fake.Text("A cat.")}}
	case spooltest.ModelFile:
		return fake.Answer{Parts: []fake.Part{fake.Text("A report.")}}
	case spooltest.ModelOutput:
		return playOutput(r)
	case spooltest.ModelCachedUsage:
		usage := &fake.Usage{Prompt: 90, ToolUse: 10, Cached: 60, Candidates: 12, Thoughts: 8}
		return fake.Answer{Parts: []fake.Part{fake.Text("Hi.")}, Usage: usage}
	case spooltest.ModelNoUsage:
		return fake.Answer{Parts: []fake.Part{fake.Text("Hi.")}}
	case spooltest.ModelLength:
		return fake.Answer{Parts: []fake.Part{fake.Text("Too lo")}, Finish: "MAX_TOKENS"}
	case spooltest.ModelFilter:
		return fake.Answer{Parts: []fake.Part{fake.Text("I can")}, Finish: "SAFETY"}
	case spooltest.ModelUnknownReason:
		return fake.Answer{Parts: []fake.Part{fake.Text("Odd.")}, Finish: "SPOOLTEST_ODD"}
	case spooltest.ModelUnknownEvents:
		return fake.Answer{Handler: unknownEvents}
	case spooltest.ModelSigned:
		return playSigned(r)
	case spooltest.ModelForeign, spooltest.ModelCallIDs:
		if strings.Contains(string(r.Body), "foreign+") {
			return fake.Answer{Error: refusal("unknown data")}
		}
		return fake.Answer{Parts: []fake.Part{fake.Text("Fine.")}}
	default:
		return p.playFailure(scenario)
	}
}

func (p *peer) playFailure(scenario spooltest.ModelScenario) fake.Answer {
	limited := fake.Error{
		Status: http.StatusTooManyRequests, Code: "RESOURCE_EXHAUSTED", Message: "Resource has been exhausted.",
	}
	half := fake.Answer{Parts: []fake.Part{fake.Text("Half")}, Gone: p.left}
	switch scenario {
	case spooltest.ModelRateLimited:
		limited.RetryDelay = 7 * time.Second
		return fake.Answer{Error: &limited}
	case spooltest.ModelRateLimitedDate:
		limited.RetryAfter = time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
		return fake.Answer{Error: &limited}
	case spooltest.ModelRateLimitedBare:
		return fake.Answer{Error: &limited}
	case spooltest.ModelUnavailable:
		return fake.Answer{
			Error: &fake.Error{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE", Message: "The model is overloaded."},
		}
	case spooltest.ModelUnauthorized:
		message := "wrong key: " + spooltest.ModelSecret + strings.Repeat(" and more", 2000)
		return fake.Answer{Error: &fake.Error{Status: http.StatusUnauthorized, Code: "UNAUTHENTICATED", Message: message}}
	case spooltest.ModelContextOverflow:
		return fake.Answer{
			Error: refusal("The input token count (1048577) exceeds the maximum number of tokens allowed (1048576)."),
		}
	case spooltest.ModelStreamError:
		half.End, half.Error = fake.EndError,
			&fake.Error{Status: http.StatusServiceUnavailable, Code: "UNAVAILABLE", Message: "overloaded"}
	case spooltest.ModelCut:
		half.End = fake.EndCut
	case spooltest.ModelNoFinish:
		half.End = fake.EndNoReason
	case spooltest.ModelBrokenJSON:
		half.Raw = []string{`{"oops and nothing more`}
	case spooltest.ModelWrongShape:
		half.Raw = []string{`{"candidates":42}`}
	case spooltest.ModelHangAtOnce:
		return fake.Answer{Handler: func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			p.left()
		}}
	case spooltest.ModelHugeEvent:
		return fake.Answer{Handler: p.endless(`data: {"candidates":[{"content":{"parts":[{"text":"Half"}]}}]}` + "\n\n" +
			`data: {"candidates":[{"content":{"parts":[{"text":"`)}
	case spooltest.ModelEndlessArguments:
		return fake.Answer{
			Handler: p.endless(`data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"weather","args":{"city":"`),
		}
	default:
		half.End = fake.EndStall
	}
	return half
}

// endless writes until the caller goes away.
func (p *peer) endless(first string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, first)
		piece := strings.Repeat("x", 256<<10)
		for range (256 << 20) / len(piece) {
			if _, err := io.WriteString(w, piece); err != nil || r.Context().Err() != nil {
				p.left()
				return
			}
		}
	}
}

func unknownEvents(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"candidates":[{"content":{"parts":[{"text":"Hello"}]}}]}`+"\n\n"+
		": a comment\n\nevent: spooltest.unknown\ndata: {\"spooltest\":1}\n\n"+
		`data: {"candidates":[{"content":{"parts":[{"text":", world.","spooltestUnknown":[1]}]},"finishReason":"STOP"}],"spooltest":{}}`+"\n\n")
}

func refusal(message string) *fake.Error {
	return &fake.Error{Status: http.StatusBadRequest, Code: "INVALID_ARGUMENT", Message: message}
}

func signed(p fake.Part, signature string) fake.Part {
	p.Signature = signature
	return p
}

func weather() fake.Part { return fake.FunctionCall("weather", `{"city":"Oslo"}`) }

func clock() fake.Part { return fake.FunctionCall("clock", `{"zone":"UTC"}`) }

// afterResponses answers "Done." to function responses, and with the parts before.
func afterResponses(r *fake.Request, parts ...fake.Part) fake.Answer {
	if len(r.Responses()) > 0 {
		return fake.Answer{Parts: []fake.Part{fake.Text("Done.")}}
	}
	return fake.Answer{Parts: parts}
}

// playOutput answers with the value as the request asks for it.
func playOutput(r *fake.Request) fake.Answer {
	const value = `{"city":"Oslo","degrees":21}`
	byCall := slices.Contains(r.Functions, "weather_report") && r.Mode == "ANY"
	switch {
	case !byCall && r.Schema == nil:
		return fake.Answer{Error: refusal("nobody asks for a value")}
	case slices.Contains(r.Functions, "weather") && len(r.Responses()) == 0:
		return fake.Answer{Parts: []fake.Part{fake.Text("Looking."), weather()}}
	case byCall:
		return fake.Answer{Parts: []fake.Part{fake.Text("Here it is: "), fake.FunctionCall("weather_report", value)}}
	default:
		return fake.Answer{Parts: []fake.Part{fake.Text(value)}}
	}
}

// signedParts is the answer of [spooltest.ModelSigned].
func signedParts() []fake.Part {
	return []fake.Part{
		signed(fake.Thought("First thought."), "sigR1/+A"),
		signed(fake.Thought(""), "sealed/A"),
		signed(fake.Text("Looking."), "sigT1/+A"),
		{Code: []byte(`{"language":"PYTHON","code":"part/++A"}`)},
		signed(fake.Thought("Second thought."), "sigR2/+A"),
		signed(weather(), "sigC1/+A"),
		clock(),
	}
}

// playSigned refuses what the model has not said.
func playSigned(r *fake.Request) fake.Answer {
	answer := fake.Answer{Parts: signedParts(), Whole: true}
	if len(r.Contents) == 1 {
		return answer
	}
	var want []string
	for _, part := range answer.Parts {
		if !strings.HasSuffix(r.Model, "-other") {
			want = append(want, outline(part))
		} else if part.Code == nil && !part.Thought {
			part.Signature = ""
			if part.Call != nil && part.Call.Name == "weather" && !fake.Old(r.Model) {
				part.Signature = fake.Skip
			}
			want = append(want, outline(part))
		}
	}
	var got []string
	for _, part := range r.Contents[1].Parts {
		got = append(got, outline(part))
	}
	if !slices.Equal(got, want) {
		return fake.Answer{Error: refusal(fmt.Sprintf("the parts of the answer were modified: %q", got))}
	}
	return fake.Answer{Parts: []fake.Part{fake.Text("Done.")}}
}

// outline returns what a request must repeat of a part.
func outline(p fake.Part) string {
	switch {
	case p.Call != nil:
		return "call " + p.Call.Name + string(p.Call.Args) + " " + p.Signature
	case p.Text != nil:
		return fmt.Sprintf("%t %q %s", p.Thought, *p.Text, p.Signature)
	}
	return string(p.Code)
}
