package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// collector has the spans and metrics of an engine.
type collector struct {
	spans    *tracetest.SpanRecorder
	provider *sdktrace.TracerProvider
	reader   *sdkmetric.ManualReader
}

// measure returns a configuration whose spans and metrics are collected.
func measure(t *testing.T, c engine.Config) (engine.Config, *collector) {
	t.Helper()
	m := &collector{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	m.provider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(m.spans))
	c.Telemetry.TracerProvider = m.provider
	c.Telemetry.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(m.reader))
	return c, m
}

// tree returns the ended spans with their attributes and links, each below its parent.
func (m *collector) tree() string {
	all := m.spans.Ended()
	slices.SortStableFunc(all, func(a, b sdktrace.ReadOnlySpan) int { return strings.Compare(sortKey(a), sortKey(b)) })
	names := make(map[trace.SpanID]string)
	for _, s := range all {
		names[s.SpanContext().SpanID()] = s.Name()
	}
	var b strings.Builder
	var write func(parent trace.SpanID, indent string)
	write = func(parent trace.SpanID, indent string) {
		for _, s := range all {
			if s.Parent().SpanID() != parent {
				continue
			}
			fmt.Fprintf(&b, "%s%s (%s)", indent, s.Name(), s.SpanKind())
			if s.Status().Code != codes.Unset {
				fmt.Fprintf(&b, " %s %q", s.Status().Code, s.Status().Description)
			}
			for _, link := range s.Links() {
				fmt.Fprintf(&b, " -> %s", names[link.SpanContext.SpanID()])
			}
			b.WriteString("\n")
			attrs := attribute.NewSet(s.Attributes()...)
			for _, a := range attrs.ToSlice() {
				fmt.Fprintf(&b, "%s  %s=%s\n", indent, a.Key, a.Value.String())
			}
			write(s.SpanContext().SpanID(), indent+"    ")
		}
	}
	write(trace.SpanID{}, "")
	return b.String()
}

// sortKey orders spans by segment, and by their names where they began at once.
func sortKey(s sdktrace.ReadOnlySpan) string {
	return s.StartTime().Format("15:04:05.000000000") + s.Name()
}

// metrics collects, by name.
func (m *collector) metrics(t *testing.T) map[string]metricdata.Aggregation {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	out := make(map[string]metricdata.Aggregation)
	for _, scope := range all.ScopeMetrics {
		for _, one := range scope.Metrics {
			out[one.Name] = one.Data
		}
	}
	return out
}

// names is a model that implements [spool.Described].
type names struct{ *spooltest.Model }

func (names) Describe() spool.ModelInfo { return spool.ModelInfo{Provider: "openai", Model: "gpt-9"} }

// A run of a tool and a park is a trace for each of its two segments, which are linked.
func TestSpansOfARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		read := int64(3)
		usage := spooltest.Tokens(10, 4)
		usage.CacheRead = &read
		first := spooltest.Turn{
			Text: []string{"I look"}, Usage: usage,
			Calls: []spooltest.Call{{ID: "c1", Name: "find", Args: `{"q":1}`}, {ID: "c2", Name: "send"}},
		}
		last := spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(20, 2)}
		find := toolOf("find", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`7`), nil
		})
		c := config(spooltest.NewReplayModel(first, last), find, sendTool())
		c.Models["m"] = names{spooltest.NewReplayModel(first, last)}
		c, m := measure(t, c)
		e := newEngine(t, memory.New(nil), c)

		ctx, span := m.provider.Tracer("test").Start(t.Context(), "POST /run")
		if r, err := e.Run(ctx, key, wire.StartRequest{Prompt: "p", RunID: "r1"}); err != nil || !r.Accepted {
			t.Fatal(r, err)
		}
		span.End()
		defer work(t, e)()
		pass(time.Second)
		approve(t, e, "c2")
		pass(time.Second)

		if diff := cmp.Diff(spansOfARun, m.tree()); diff != "" {
			t.Errorf("spans (-want +got):\n%s", diff)
		}
	})
}

const spansOfARun = `POST /run (internal)
invoke_agent a (internal) -> POST /run
  gen_ai.agent.name=a
  gen_ai.conversation.id=t1
  gen_ai.operation.name=invoke_agent
  gen_ai.provider.name=openai
  gen_ai.request.model=gpt-9
  spool.run.id=r1
  spool.run.state=WAITING_FOR_INPUT
  spool.segment=1
  spool.segment.status=parked
  spool.tenant=acme
    chat gpt-9 (client)
      gen_ai.agent.name=a
      gen_ai.conversation.id=t1
      gen_ai.operation.name=chat
      gen_ai.provider.name=openai
      gen_ai.request.model=gpt-9
      gen_ai.response.finish_reasons=["tool-calls"]
      gen_ai.response.model=scripted-1
      gen_ai.response.time_to_first_chunk=1e-09
      gen_ai.usage.cache_read.input_tokens=3
      gen_ai.usage.input_tokens=10
      gen_ai.usage.output_tokens=4
      spool.outcome=finished
      spool.run.id=r1
      spool.step=1
    execute_tool find (internal)
      gen_ai.agent.name=a
      gen_ai.conversation.id=t1
      gen_ai.operation.name=execute_tool
      gen_ai.tool.call.id=c1
      gen_ai.tool.name=find
      gen_ai.tool.type=function
      spool.outcome=finished
      spool.run.id=r1
      spool.step=1
invoke_agent a (internal) -> POST /run -> invoke_agent a
  gen_ai.agent.name=a
  gen_ai.conversation.id=t1
  gen_ai.operation.name=invoke_agent
  gen_ai.provider.name=openai
  gen_ai.request.model=gpt-9
  spool.run.id=r1
  spool.run.state=COMPLETED
  spool.segment=2
  spool.segment.status=finished
  spool.tenant=acme
    chat gpt-9 (client)
      gen_ai.agent.name=a
      gen_ai.conversation.id=t1
      gen_ai.operation.name=chat
      gen_ai.provider.name=openai
      gen_ai.request.model=gpt-9
      gen_ai.response.finish_reasons=["stop"]
      gen_ai.response.model=scripted-1
      gen_ai.response.time_to_first_chunk=1e-09
      gen_ai.usage.input_tokens=20
      gen_ai.usage.output_tokens=2
      spool.outcome=finished
      spool.run.id=r1
      spool.step=2
    execute_tool send (internal)
      gen_ai.agent.name=a
      gen_ai.conversation.id=t1
      gen_ai.operation.name=execute_tool
      gen_ai.tool.call.id=c2
      gen_ai.tool.name=send
      gen_ai.tool.type=function
      spool.outcome=finished
      spool.run.id=r1
      spool.step=1
`

// A span has the kind of an error, and nothing of its text.
func TestSpansOfErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		turns []spooltest.Turn
		tools []spool.Tool
		want  []string
	}{
		"Model": {
			turns: []spooltest.Turn{{Err: &spool.ModelError{Status: 400, Message: "MARK"}}},
			want: []string{
				`chat m (client) Error ""`, "error.type=400", "spool.outcome=error", `invoke_agent a (internal) Error ""`,
				"spool.segment.status=error",
			},
		},
		"ProvidersWord": {
			turns: []spooltest.Turn{
				{Err: &spool.ModelError{Status: 429, Type: "insufficient_quota", NoRetry: true, Message: "MARK"}},
			},
			want: []string{"error.type=insufficient_quota"},
		},
		"NoWord": {
			turns: []spooltest.Turn{{Err: &spool.ModelError{Status: 400, Type: "MARK is no word", Message: "MARK"}}},
			want:  []string{"error.type=400"},
		},
		"Tool": {
			turns: []spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "bad"}), spooltest.Say("sorry")},
			tools: []spool.Tool{
				toolOf("bad", func(context.Context, spool.ToolCall) (json.RawMessage, error) { return nil, errors.New("MARK") }),
			},
			want: []string{`execute_tool bad (internal) Error ""`, "error.type=_OTHER", "spool.segment.status=finished"},
		},
		"ParkOfATool": {
			turns: []spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "ask"})},
			tools: []spool.Tool{toolOf("ask", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return nil, spool.ParkFor("MARK", "MARK", 0)
			})},
			want: []string{"execute_tool ask (internal)\n", "spool.outcome=parked", "spool.segment.status=parked"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, m := measure(t, config(spooltest.NewReplayModel(test.turns...), test.tools...))
				e := newEngine(t, memory.New(nil), c)
				start(t, e, "r1")
				defer work(t, e)()
				pass(time.Second)

				got := m.tree()
				for _, want := range test.want {
					if !strings.Contains(got, want) {
						t.Errorf("there is no %q in\n%s", want, got)
					}
				}
				if strings.Contains(got, "MARK") {
					t.Errorf("an error's text is on a span:\n%s", got)
				}
			})
		})
	}
}

// A stop is no error.
func TestSpansOfAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, m := measure(t, config(spooltest.NewModel(openTurn("so"))))
		e := newEngine(t, memory.New(nil), c)
		start(t, e, "r1")
		defer work(t, e)()
		pass(time.Second)
		stopRun(t, e)
		pass(time.Second)

		got := m.tree()
		for _, want := range []string{"spool.outcome=aborted", "spool.segment.status=stopped", "error.type=canceled"} {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %q in\n%s", want, got)
			}
		}
		if strings.Contains(got, " Error ") {
			t.Errorf("a span of a stopped run has failed:\n%s", got)
		}
	})
}

// marks stand in every text that a person, a model or a tool writes.
func marks() (turns []spooltest.Turn, tools []spool.Tool) {
	find := toolOf("find", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return json.RawMessage(`"MARKresult"`), nil
	})
	bad := toolOf("bad", func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		return nil, errors.New("MARKerror")
	})
	return []spooltest.Turn{
		{
			Reasoning: []string{"MARKthought"}, Text: []string{"MARKtext"},
			Calls: []spooltest.Call{{ID: "c1", Name: "find", Args: `{"q":"MARKargs"}`}, {ID: "c2", Name: "bad"}},
		},
		{Text: []string{"MARKanswer"}},
	}, []spool.Tool{find, bad}
}

// Spans have texts of people, models and tools only with Telemetry.Contents.
func TestContentsOfSpans(t *testing.T) {
	t.Parallel()
	all := []string{
		"MARKinstructions", "MARKprompt", "MARKthought", "MARKtext", "MARKargs", "MARKresult", "MARKerror", "MARKanswer",
	}
	for _, contents := range []bool{false, true} {
		t.Run(strconv.FormatBool(contents), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				turns, tools := marks()
				c := config(spooltest.NewReplayModel(turns...), tools...)
				c.Agents[0].Instructions = "MARKinstructions"
				c, m := measure(t, c)
				c.Telemetry.Contents = contents
				e := newEngine(t, memory.New(nil), c)
				if r, err := e.Run(
					t.Context(), key, wire.StartRequest{Prompt: "MARKprompt " + strings.Repeat("é", 4096), RunID: "r1"},
				); err != nil || !r.Accepted {
					t.Fatal(r, err)
				}
				defer work(t, e)()
				pass(time.Second)

				got := m.tree()
				for _, mark := range all {
					if strings.Contains(got, mark) != contents {
						t.Errorf("Contents is %v, and %s is on a span: %v", contents, mark, !contents)
					}
				}
				if contents && (!strings.Contains(got, "é…") || len(got) > 32<<10) {
					t.Errorf("a long prompt was not cut: %d bytes", len(got))
				}
				if measured := fmt.Sprint(m.metrics(t)); strings.Contains(measured, "MARK") {
					t.Errorf("contents in metrics: %s", measured)
				}
			})
		})
	}
}

// The span of a nested run is below that of the run that spawned it. A name that the model made up is no
// label, and is on spans only with contents.
func TestSpansOfNestedRuns(t *testing.T) {
	t.Parallel()
	for _, contents := range []bool{false, true} {
		t.Run(strconv.FormatBool(contents), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				model := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
					switch {
					case !strings.Contains(r.Messages[0].Text(), "p r1"):
						return spooltest.Turn{Text: []string{"found"}, Usage: spooltest.Tokens(3, 1)}
					case spooltest.StepOf(r) == 0:
						return spooltest.Turn{Usage: spooltest.Tokens(10, 4), Calls: []spooltest.Call{
							{ID: "c1", Name: spool.SpawnTool, Args: `{"name":"MARKname","instructions":"look"}`},
						}}
					default:
						return spooltest.Turn{Text: []string{"done"}, Usage: spooltest.Tokens(20, 2)}
					}
				})
				c := config(model)
				c.Agents[0].Spawn = &spool.Spawn{Open: true}
				c, m := measure(t, c)
				c.Telemetry.Contents = contents
				b := memory.New(nil)
				e := newEngine(t, b, c)
				start(t, e, "r1")
				defer work(t, e)()
				pass(time.Second)

				name := "_other"
				if contents {
					name = "MARKname"
				}
				got := m.tree()
				for _, want := range []string{
					"\ninvoke_agent a ", "\n    invoke_agent " + name + " (", "\n        chat m (client)",
					"      gen_ai.agent.id=sub_",
				} {
					if !strings.Contains("\n"+got, want) {
						t.Errorf("there is no %q in\n%s", want, got)
					}
				}
				if !contents && strings.Contains(got, "MARK") {
					t.Errorf("contents are on a span:\n%s", got)
				}
				metrics := m.metrics(t)
				for name, data := range metrics {
					if all := strings.Join(lines(t, data), "\n"); strings.Contains(all, "MARK") {
						t.Errorf("%s: %s", name, all)
					}
				}
				if diff := cmp.Diff(
					[]string{"gen_ai.agent.name=_other: 1", "gen_ai.agent.name=a: 1"}, lines(t, metrics["spool.runs.started"]),
				); diff != "" {
					t.Errorf("runs (-want +got):\n%s", diff)
				}
				checkLedger(t, b, metrics["gen_ai.client.token.usage"], 33, 7)
			})
		})
	}
}
