package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
)

func TestFillRefuses(t *testing.T) {
	t.Parallel()

	for want, g := range map[string]config.Group{
		`Config.Attachments.MaxBytes is negative`:                             &config.AttachmentOptions{MaxBytes: -1},
		`Config.Attachments.MediaTypes has "video/mp4", which no model reads`: &config.AttachmentOptions{MediaTypes: []string{"video/mp4"}},
		`Config.Attachments.MediaTypes has "image/PNG", which no model reads`: &config.AttachmentOptions{MediaTypes: []string{"image/PNG"}},
		`Config.Context.CompactionTrigger is more than 1`:                     &config.ContextOptions{CompactionTrigger: 1.1},
		`Config.Context.TailShare is not between 0 and 0.5`:                   &config.ContextOptions{TailShare: 0.6},
		`Config.Context.TailShare is not less than CompactionTrigger`:         &config.ContextOptions{CompactionTrigger: 0.2},
		`Config.Context.Ceiling is negative`:                                  &config.ContextOptions{Ceiling: -1},
		`Config.Context.OutputReserve is negative`:                            &config.ContextOptions{OutputReserve: -1},
		`Config.Context.Windows["m"] is not positive`:                         &config.ContextOptions{Windows: map[string]int{"m": 0}},
		`Config.Limits.AnswerBytes is negative`:                               &config.LimitOptions{AnswerBytes: -1},
		`Config.Limits.StepBytes is negative`:                                 &config.LimitOptions{StepBytes: -1},
		`Config.Limits.StepBytes is less than AnswerBytes`:                    &config.LimitOptions{StepBytes: 1, AnswerBytes: 2},
		`Config.Limits.QueueDepth is negative`:                                &config.LimitOptions{QueueDepth: -1},
		`Config.Limits.TenantBytes is negative`:                               &config.LimitOptions{TenantBytes: -1},
		`Config.Retention.Threads is negative`:                                &config.RetentionOptions{Threads: -1},
		`Config.Retry.Backoff is negative`:                                    &config.RetryOptions{Backoff: -1},
		`Config.Stream.SnapshotMemory is negative`:                            &config.StreamOptions{SnapshotMemory: -1},
		`Config.Worker.SweepEvery is negative`:                                &config.WorkerOptions{SweepEvery: -1},
	} {
		if err := config.Fill(g); spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestFill has defaults that depend on other fields, and fields whose negative values have a meaning.
func TestFill(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ got, want config.LimitOptions }{
		"none":           {config.LimitOptions{}, config.LimitOptions{AnswerBytes: 4 << 20, StepBytes: 8 << 20}},
		"a small step":   {config.LimitOptions{StepBytes: 1000}, config.LimitOptions{AnswerBytes: 1000, StepBytes: 1000}},
		"a large answer": {config.LimitOptions{AnswerBytes: 10 << 20}, config.LimitOptions{AnswerBytes: 10 << 20, StepBytes: 10 << 20}},
		"no wall time":   {config.LimitOptions{WallTime: -1}, config.LimitOptions{AnswerBytes: 4 << 20, StepBytes: 8 << 20, WallTime: -1}},
	} {
		c.want.PromptBytes, c.want.ResultBytes, c.want.Waiting = 262_144, 64<<10, 16
		c.want.FileBytes, c.want.ThreadFileBytes, c.want.ThreadFiles = 4<<20, 32<<20, 64
		if err := config.Fill(&c.got); err != nil || c.got != c.want {
			t.Errorf("%s: %+v, %v", name, c.got, err)
		}
	}

	kept, stream := config.RetentionOptions{Audit: -1}, config.StreamOptions{FlushEvery: -1}
	if err := config.Fill(&kept, &stream); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.RetentionOptions{Audit: -1}, kept); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(config.StreamOptions{
		FlushEvery: -1, FlushItems: 32, Grace: 10 * time.Minute, Keepalive: 15 * time.Second, RetryHint: time.Second, SnapshotMemory: 128 << 20,
	}, stream); diff != "" {
		t.Error(diff)
	}
}
