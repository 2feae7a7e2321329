package responses_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/model/responses"
	"github.com/spoolhq/spool/spooltest"
)

// firstText is the number of events up to the first piece of a text.
const firstText = 5

// play returns the script of a scenario.
func play(scenario spooltest.ModelScenario, gone func()) func(*fake.Request) fake.Answer {
	return func(r *fake.Request) fake.Answer {
		switch scenario {
		case spooltest.ModelText:
			return fake.Answer{Items: []fake.Item{fake.Text("Hello", ", world.")}, Usage: &fake.Usage{Input: 12, Output: 4}}
		case spooltest.ModelParallelTools:
			if r.Count("function_call_output") > 0 {
				return fake.Answer{Items: []fake.Item{fake.Text("Do", "ne.")}}
			}
			return fake.Answer{Items: []fake.Item{
				fake.Text("Looking."), fake.Call("call_a", "weather", `{"city":`, `"Oslo"}`),
				fake.Call("call_b", "clock", `{"zone":"UTC"}`),
			}}
		case spooltest.ModelNoCalls:
			if r.NoCalls() {
				return fake.Answer{Items: []fake.Item{fake.Text("Do", "ne.")}}
			}
			return fake.Answer{Items: []fake.Item{fake.Call("call_a", "weather", `{"city":`, `"Oslo"}`)}}
		case spooltest.ModelReasoning:
			return fake.Answer{
				Items: []fake.Item{fake.Reason("Thinking ", "hard.").Sealed("sig-4711"), fake.Text("Forty", "-two.")},
			}
		case spooltest.ModelWholeCalls:
			return fake.Answer{
				Items: []fake.Item{fake.Call("call_a", "weather", `{"city":"Oslo"}`), fake.Call("call_b", "coin")},
			}
		case spooltest.ModelBrokenArguments:
			if r.Count("function_call_output") > 0 {
				return fake.Answer{Items: []fake.Item{fake.Text("Done.")}}
			}
			return fake.Answer{Items: []fake.Item{fake.Call("call_a", "weather", `{"city":`, `"Os`)}}
		case spooltest.ModelSigned:
			return playSigned(r)
		case spooltest.ModelForeign, spooltest.ModelCallIDs:
			if strings.Contains(r.Raw, "foreign+") {
				return refuse("", "unknown data")
			}
			return fake.Answer{Items: []fake.Item{fake.Text("Fi", "ne.")}}
		case spooltest.ModelFile:
			return fake.Answer{Items: []fake.Item{fake.Text("A ", "report.")}}
		case spooltest.ModelOutput:
			return playOutput(r)
		case spooltest.ModelFilter:
			return fake.Answer{Items: []fake.Item{fake.Text("I ", "can")}, Incomplete: "content_filter"}
		case spooltest.ModelUnknownReason:
			return fake.Answer{Items: []fake.Item{fake.Text("O", "dd.")}, Incomplete: "spooltest_odd"}
		case spooltest.ModelUnknownEvents:
			return fake.Answer{
				Items: []fake.Item{fake.Text("Hello", ", world.")}, DoAfter: firstText,
				Do: func(w http.ResponseWriter, _ *http.Request) bool {
					_, _ = io.WriteString(w,
						": a comment\n\nevent: spooltest.unknown\ndata: {\"type\":\"spooltest.unknown\",\"delta\":[1]}\n\n"+
							"data: {\"type\":\"response.in_progress\",\"spooltest_unknown\":[1]}\n\n")
					return false
				},
			}
		case spooltest.ModelImage:
			return fake.Answer{Items: []fake.Item{fake.Text("A ", "cat.")}}
		case spooltest.ModelCachedUsage:
			return fake.Answer{
				Items: []fake.Item{fake.Text("Hi.")},
				Usage: &fake.Usage{Input: 100, Cached: 60, Output: 20, Reasoning: 8},
			}
		case spooltest.ModelNoUsage:
			return fake.Answer{Items: []fake.Item{fake.Text("Hi.")}}
		case spooltest.ModelLength:
			return fake.Answer{Items: []fake.Item{fake.Text("Too ", "lo")}, Incomplete: "max_output_tokens"}
		default:
			return playFailure(scenario, r, gone)
		}
	}
}

func playFailure(scenario spooltest.ModelScenario, r *fake.Request, gone func()) fake.Answer {
	half := fake.Answer{Items: []fake.Item{fake.Text("Half")}, Gone: gone}
	switch scenario {
	case spooltest.ModelRateLimited:
		return fake.Answer{
			HTTP: &fake.Failure{
				Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "slow down", RetryAfter: "7",
			},
		}
	case spooltest.ModelRateLimitedDate:
		at := time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
		return fake.Answer{HTTP: &fake.Failure{Status: http.StatusTooManyRequests, Message: "slow down", RetryAfter: at}}
	case spooltest.ModelRateLimitedBare:
		return fake.Answer{HTTP: &fake.Failure{Status: http.StatusTooManyRequests, Message: "slow down"}}
	case spooltest.ModelContextOverflow:
		return refuse("context_length_exceeded", "Your input exceeds the context window of this model.")
	case spooltest.ModelBrokenJSON:
		half.DoAfter, half.Do = firstText, write("data: {\"oops\n\n")
	case spooltest.ModelWrongShape:
		half.DoAfter, half.Do = firstText,
			write("data: {\"type\":\"response.output_item.done\",\"output_index\":\"one\"}\n\n")
	case spooltest.ModelHugeEvent:
		half.DoAfter, half.Do = firstText, endless(`data: {"type":"response.output_text.delta","delta":"`,
			strings.Repeat("x", 256<<10), gone)
	case spooltest.ModelEndlessArguments:
		half.Items, half.DoAfter = []fake.Item{fake.Call("call_a", "weather", "{")}, 4
		half.Do = endless("", `data: {"type":"response.function_call_arguments.delta","output_index":0,"delta":"`+
			strings.Repeat("x", 128<<10)+"\"}\n\n", gone)
	case spooltest.ModelUnavailable:
		return fake.Answer{HTTP: &fake.Failure{Status: http.StatusServiceUnavailable, Message: "overloaded"}}
	case spooltest.ModelUnauthorized:
		message := "wrong key: " + r.Header.Get("Authorization") + strings.Repeat(" and more", 2000)
		return fake.Answer{HTTP: &fake.Failure{Status: http.StatusUnauthorized, Code: "invalid_api_key", Message: message}}
	case spooltest.ModelStreamError:
		half.Error = &fake.Failure{Code: "server_error", Message: "The server had an error."}
	case spooltest.ModelCut:
		half.CutAfter = firstText
	case spooltest.ModelNoFinish:
		half.EndAfter = firstText
	case spooltest.ModelHangAtOnce:
		half.HangAtOnce = true
	default:
		half.HangAfter = firstText
	}
	return half
}

func TestModel(t *testing.T) { //nolint:paralleltest // the suite is
	spooltest.TestModel(t, func(t *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
		t.Helper()

		gone := make(chan struct{})
		server, http := serve(t, play(scenario, sync.OnceFunc(func() { close(gone) })))
		config := responses.Config{APIKey: spooltest.ModelSecret}
		if scenario == spooltest.ModelIdle {
			config.IdleTimeout = 50 * time.Millisecond
		}
		other := config
		other.Model = "other-model"
		return spooltest.ModelPeer{
			Model: open(t, http, config), Other: open(t, http, other), Requests: server.Bodies, Gone: gone,
		}
	}, spooltest.ModelFeatures{
		CachedUsage: true, Files: true, Images: true, ProviderParts: true, RetryAfterDate: true, SealedReasoning: true,
		SignedReasoning: true, TextArguments: true,
	})
}
