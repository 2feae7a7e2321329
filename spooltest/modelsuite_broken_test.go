package spooltest_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// brokenEnv makes a process run the tests that have to fail.
const brokenEnv = "SPOOL_TEST_BROKEN_MODELS"

// defect changes an answer: next yields the answer of a correct model.
type defect func(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error]

// brokenModel is a model with a defect.
type brokenModel struct {
	next   spool.Model
	defect defect
}

// Stream asks the correct model, and changes its answer.
func (m brokenModel) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return m.defect(ctx, r, m.next)
}

// events is a defect that changes each event. Nil drops it.
func events(change func(spool.ModelEvent) spool.ModelEvent) defect {
	return func(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
		return func(yield func(spool.ModelEvent, error) bool) {
			for event, err := range next.Stream(ctx, r) {
				if err == nil {
					event = change(event)
				}
				if (event != nil || err != nil) && !yield(event, err) {
					return
				}
			}
		}
	}
}

// ends is a defect of the finish.
func ends(change func(*spool.Finish)) defect {
	return events(func(event spool.ModelEvent) spool.ModelEvent {
		if end, ok := event.(spool.Finish); ok {
			change(&end)
			return end
		}
		return event
	})
}

// reasons is a defect that knows one finish reason only.
func reasons(reason spool.FinishReason) defect {
	return ends(func(f *spool.Finish) { f.Reason = reason })
}

// asks is a defect of the request.
func asks(change func(*spool.Part)) defect {
	return func(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
		r.Messages = slices.Clone(r.Messages)
		for i := range r.Messages {
			r.Messages[i].Content = slices.Clone(r.Messages[i].Content)
			for k := range r.Messages[i].Content {
				change(&r.Messages[i].Content[k])
			}
		}
		return next.Stream(ctx, r)
	}
}

// errs is a defect of the error. Nil finishes the answer instead.
func errs(change func(*spool.ModelError) error) defect {
	return func(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
		return func(yield func(spool.ModelEvent, error) bool) {
			for event, err := range next.Stream(ctx, r) {
				if provider, ok := errors.AsType[*spool.ModelError](err); ok {
					if err = change(provider); err == nil {
						event = spool.Finish{Reason: spool.FinishStop}
					}
				}
				if !yield(event, err) {
					return
				}
			}
		}
	}
}

func finishes(*spool.ModelError) error { return nil }

// slowEnd is a defect that ends answers late.
func slowEnd(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		for event, err := range next.Stream(ctx, r) {
			if err != nil {
				timer := time.NewTimer(150 * time.Millisecond)
				<-timer.C
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// deaf is a defect that reads the answer to its end whatever the caller does.
func deaf(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		all := make(chan spool.ModelEvent)
		go func() {
			for event, err := range next.Stream(context.WithoutCancel(ctx), r) {
				if err == nil {
					all <- event
				}
			}
		}()
		for {
			select {
			case event := <-all:
				if !yield(event, nil) {
					return
				}
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
		}
	}
}

func without[E spool.ModelEvent](event spool.ModelEvent) spool.ModelEvent {
	if _, ok := event.(E); ok {
		return nil
	}
	return event
}

// defects has a defect for each case of the suite. The key is the case, and perhaps what is wrong.
func defects() map[string]defect {
	zero := new(int64)
	return map[string]defect{
		"Text":       events(without[spool.TextDelta]),
		"Text usage": ends(func(f *spool.Finish) { f.Usage = spool.Usage{} }),
		"Text request": func(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
			r.Extra = nil
			return next.Stream(ctx, r)
		},
		"Text end": events(without[spool.Finish]),
		"ParallelTools": events(func(event spool.ModelEvent) spool.ModelEvent {
			if end, ok := event.(spool.ToolCallEnd); ok {
				end.Args = strings.ReplaceAll(end.Args, "UTC", "CET")
				return end
			}
			return event
		}),
		"ParallelTools open":  events(without[spool.ToolCallEnd]),
		"ParallelTools start": events(without[spool.ToolCallStart]),
		"NoCalls": func(ctx context.Context, r spool.ModelRequest, next spool.Model) iter.Seq2[spool.ModelEvent, error] {
			r.NoCalls = false
			return next.Stream(ctx, r)
		},
		"NoCalls without tools": func(
			ctx context.Context, r spool.ModelRequest, next spool.Model,
		) iter.Seq2[spool.ModelEvent, error] {
			if r.NoCalls {
				r.Tools = nil
			}
			return next.Stream(ctx, r)
		},
		"WholeCalls": events(func(event spool.ModelEvent) spool.ModelEvent {
			if end, ok := event.(spool.ToolCallEnd); ok && end.Args == "{}" {
				end.Args = ""
				return end
			}
			return event
		}),
		"BrokenArguments": events(func(event spool.ModelEvent) spool.ModelEvent {
			if end, ok := event.(spool.ToolCallEnd); ok {
				end.Args = "{}"
				return end
			}
			return event
		}),
		"Reasoning": events(without[spool.ReasoningEnd]),
		"Reasoning form": events(func(event spool.ModelEvent) spool.ModelEvent {
			if _, ok := event.(spool.ReasoningEnd); ok {
				return spool.ReasoningEnd{Provider: []byte(`"sig-4711"`)}
			}
			return event
		}),
		"Signed text": events(without[spool.TextEnd]),
		"Signed part": events(without[spool.ProviderPart]),
		"Signed stripped": asks(func(p *spool.Part) {
			if p.Type == spool.PartToolCall {
				p.Provider = nil
			}
		}),
		"Signed for another model": asks(func(p *spool.Part) {
			p.Provider = []byte(strings.Replace(string(p.Provider), `"model":"paper-1"`, `"model":"paper-2"`, 1))
		}),
		"Foreign": asks(func(p *spool.Part) {
			if p.Provider != nil {
				p.Text += string(p.Provider)
			}
		}),
		"Foreign lost": asks(func(p *spool.Part) { p.Text = strings.ReplaceAll(p.Text, "I looked.", "") }),
		"CallIDs": asks(func(p *spool.Part) {
			if p.Type == spool.PartToolResult && p.ToolCallID == "call_0" {
				p.ToolCallID = "call_9"
			}
		}),
		"Image":  asks(func(p *spool.Part) { p.Image = "" }),
		"File":   asks(func(p *spool.Part) { p.File = "" }),
		"Output": ends(func(f *spool.Finish) { f.Reason = spool.FinishToolCalls }),
		"OutputAfterTool": func(
			ctx context.Context, r spool.ModelRequest, next spool.Model,
		) iter.Seq2[spool.ModelEvent, error] {
			r.Tools = nil
			return next.Stream(ctx, r)
		},
		"CachedUsage":   ends(func(f *spool.Finish) { f.Usage.CacheRead = nil }),
		"NoUsage":       ends(func(f *spool.Finish) { f.Usage.Input = zero }),
		"Length":        reasons(spool.FinishStop),
		"Filter":        reasons(spool.FinishStop),
		"Pause":         reasons(spool.FinishStop),
		"UnknownReason": reasons(spool.FinishStop),
		"UnknownEvents": reasons("unknown"),
		"RateLimited":   errs(func(e *spool.ModelError) error { e.After = 7; return e }),
		"RateLimited twice": func(
			ctx context.Context, r spool.ModelRequest, next spool.Model,
		) iter.Seq2[spool.ModelEvent, error] {
			for _, err := range next.Stream(ctx, r) {
				if err != nil {
					break
				}
			}
			return next.Stream(ctx, r)
		},
		"RateLimitedDate":   errs(func(e *spool.ModelError) error { e.After = 0; return e }),
		"RateLimitedBare":   errs(func(e *spool.ModelError) error { e.After = time.Second; return e }),
		"Unavailable":       errs(func(e *spool.ModelError) error { e.NoRetry = true; return e }),
		"Unauthorized":      errs(func(e *spool.ModelError) error { e.Message = spooltest.ModelSecret; return e }),
		"Unauthorized long": errs(func(e *spool.ModelError) error { e.Message = strings.Repeat("x", 10_000); return e }),
		"ContextOverflow":   errs(func(e *spool.ModelError) error { e.ContextOverflow = false; return e }),
		"StreamError":       errs(finishes),
		"Cut":               errs(finishes),
		"NoFinish":          errs(finishes),
		"BrokenJSON":        errs(func(e *spool.ModelError) error { e.NoRetry = true; return e }),
		"WrongShape":        errs(func(*spool.ModelError) error { return errors.New("not a model error") }),
		"Idle":              errs(finishes),
		"Cancel":            slowEnd,
		"CancelBeforeWords": slowEnd,
		"CancelledAlready": func(
			_ context.Context, r spool.ModelRequest, next spool.Model,
		) iter.Seq2[spool.ModelEvent, error] {
			return next.Stream(context.Background(), r)
		},
		"StopIterating":    deaf,
		"HugeEvent":        errs(finishes),
		"EndlessArguments": reasons(spool.FinishToolCalls),
	}
}

// TestBrokenModels runs each defect against its case in another process, in which the case has to fail.
func TestBrokenModels(t *testing.T) {
	if os.Getenv(brokenEnv) != "" {
		runBroken(t)
		return
	}
	t.Parallel()

	run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBrokenModels$", "-test.v")
	run.Env = append(os.Environ(), brokenEnv+"=1")
	out, err := run.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err, exit)
	}
	failed := regexp.MustCompile(`(?m)^ *--- FAIL: TestBrokenModels/([^/\s]+)/`).FindAllStringSubmatch(string(out), -1)
	covered := make(map[string]bool)
	for name := range defects() {
		test, _, _ := strings.Cut(name, " ")
		covered[test] = true
		if !slices.ContainsFunc(failed, func(m []string) bool { return m[1] == strings.ReplaceAll(name, " ", "_") }) {
			t.Errorf("the case accepts the defect %q", name)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^ *--- \w+: TestBrokenModels/Text/(\w+)`).
		FindAllStringSubmatch(string(out), -1) {
		if !covered[m[1]] {
			t.Errorf("no defect for the case %s", m[1])
		}
	}
	if len(failed) == 0 {
		t.Errorf("no case has failed: %s", out)
	}
}

func runBroken(t *testing.T) {
	all := defects()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		test, _, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			spooltest.TestModel(t, func(t *testing.T, scenario spooltest.ModelScenario) spooltest.ModelPeer {
				t.Helper()
				if !strings.HasSuffix(t.Name(), "/"+test) {
					t.Skip("the defect is for another case")
				}
				return newPaper(scenario, func(m spool.Model) spool.Model { return brokenModel{m, all[name]} })
			}, paperFeatures)
		})
	}
}
