package load

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgress(t *testing.T) {
	t.Parallel()

	rung := func(elapsed time.Duration) Status {
		return Status{
			Phase: PhaseRung, Rung: 2, Rungs: 5, Rate: 10, Elapsed: elapsed, Of: 10 * time.Second, Sent: 40, Ended: 30,
			Failed: 1, Watchers: 9,
		}
	}
	done := Status{
		Phase: PhaseDone, Rung: 2, Rungs: 5, Rate: 10,
		Done: &Rung{AchievedPerSecond: 9.96, FirstToken: Latency{P50: 4.2, P99: 123.4}},
	}

	// Lines come every five seconds, and for each new phase.
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := NewProgress(&b, false)
		for i := range 40 {
			p.Show(rung(time.Duration(i) * 200 * time.Millisecond))
			<-time.After(200 * time.Millisecond)
		}
		p.Show(done)
		p.Show(Status{Phase: PhaseClean, Sent: 100, Ended: 50})
		p.Close()
		want := "2 of 5, 10/s: 40 started, 30 ended, 1 failed, 9 watchers\n"
		want += want + "2 of 5, 10/s: held, 10/s ended, first token p50 4.20 ms, p99 123 ms\ndeleting threads: 50 of 100\n"
		if b.String() != want {
			t.Errorf("got\n%s\nwant\n%s", &b, want)
		}
	})

	// A bar is overwritten, and leaves nothing behind.
	var b strings.Builder
	p := NewProgress(&b, true)
	p.Show(rung(5 * time.Second))
	p.Show(done)
	p.Show(rung(11 * time.Second))
	p.Close()
	half := "\r[############............] 2 of 5, 10/s: 40 started, 30 ended, 1 failed, 9 watchers"
	full := "\r[########################] 2 of 5, 10/s: 40 started, 30 ended, 1 failed, 9 watchers, waiting for the rest"
	blank := func(text string) string { return "\r" + strings.Repeat(" ", len(text)-1) + "\r" }
	want := half + blank(half) + "2 of 5, 10/s: held, 10/s ended, first token p50 4.20 ms, p99 123 ms\n" +
		full + blank(full)
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}
