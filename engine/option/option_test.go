package option_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
)

func TestFillRefuses(t *testing.T) {
	t.Parallel()

	for want, g := range map[string]option.Group{
		`Config.Attachments.MaxBytes is negative`: &option.Attachments{MaxBytes: -1},
		`Config.Attachments.MediaTypes has "video/mp4", which no model reads`: &option.Attachments{
			MediaTypes: []string{"video/mp4"},
		},
		`Config.Attachments.MediaTypes has "image/PNG", which no model reads`: &option.Attachments{
			MediaTypes: []string{"image/PNG"},
		},
		`Config.Context.CompactionTrigger is more than 1`:             &option.Context{CompactionTrigger: 1.1},
		`Config.Context.TailShare is not between 0 and 0.5`:           &option.Context{TailShare: 0.6},
		`Config.Context.TailShare is not less than CompactionTrigger`: &option.Context{CompactionTrigger: 0.2},
		`Config.Context.Ceiling is negative`:                          &option.Context{Ceiling: -1},
		`Config.Context.OutputReserve is negative`:                    &option.Context{OutputReserve: -1},
		`Config.Context.Windows["m"] is not positive`:                 &option.Context{Windows: map[string]int{"m": 0}},
		`Config.Limits.AnswerBytes is negative`:                       &option.Limits{AnswerBytes: -1},
		`Config.Limits.StepBytes is negative`:                         &option.Limits{StepBytes: -1},
		`Config.Limits.StepBytes is less than AnswerBytes`:            &option.Limits{StepBytes: 1, AnswerBytes: 2},
		`Config.Limits.QueueDepth is negative`:                        &option.Limits{QueueDepth: -1},
		`Config.Limits.TenantBytes is negative`:                       &option.Limits{TenantBytes: -1},
		`Config.Retention.Threads is negative`:                        &option.Retention{Threads: -1},
		`Config.Retry.Backoff is negative`:                            &option.Retry{Backoff: -1},
		`Config.Stream.SnapshotMemory is negative`:                    &option.Stream{SnapshotMemory: -1},
		`Config.Worker.SweepEvery is negative`:                        &option.Worker{SweepEvery: -1},
	} {
		if err := option.Fill(g); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestFill has defaults that depend on other fields, and fields whose negative values have a meaning.
func TestFill(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ got, want option.Limits }{
		"none":           {option.Limits{}, option.Limits{AnswerBytes: 4 << 20, StepBytes: 8 << 20}},
		"a small step":   {option.Limits{StepBytes: 1000}, option.Limits{AnswerBytes: 1000, StepBytes: 1000}},
		"a large answer": {option.Limits{AnswerBytes: 10 << 20}, option.Limits{AnswerBytes: 10 << 20, StepBytes: 10 << 20}},
		"no wall time": {
			option.Limits{WallTime: -1},
			option.Limits{AnswerBytes: 4 << 20, StepBytes: 8 << 20, WallTime: -1},
		},
	} {
		c.want.PromptBytes, c.want.ResultBytes, c.want.Waiting = 262_144, 64<<10, 16
		c.want.FileBytes, c.want.ThreadFileBytes, c.want.ThreadFiles = 4<<20, 32<<20, 64
		if err := option.Fill(&c.got); err != nil || c.got != c.want {
			t.Errorf("%s: %+v, %v", name, c.got, err)
		}
	}

	kept, stream := option.Retention{Audit: -1}, option.Stream{FlushEvery: -1}
	if err := option.Fill(&kept, &stream); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(option.Retention{Audit: -1}, kept); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(option.Stream{
		FlushEvery: -1, FlushItems: 32, Grace: 10 * time.Minute, Keepalive: 15 * time.Second, RetryHint: time.Second,
		SnapshotMemory: 128 << 20,
	}, stream); diff != "" {
		t.Error(diff)
	}
}
