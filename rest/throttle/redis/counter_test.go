package redis

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/spoolhq/spool/rest/throttle"
	"github.com/spoolhq/spool/rest/throttle/throttletest"
)

// open connects to the server of SPOOL_TEST_REDIS, and returns a prefix for the keys of one
// test, which are removed when it ends.
func open(t *testing.T) (*goredis.Client, string) {
	t.Helper()
	address := os.Getenv("SPOOL_TEST_REDIS")
	if address == "" {
		const missing = "SPOOL_TEST_REDIS has no address of a Redis server, such as redis://127.0.0.1:6379/0"
		if os.Getenv("SPOOL_TEST_REQUIRE") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	options, err := goredis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	client := goredis.NewClient(options)
	prefix := "test:" + strings.ReplaceAll(t.Name(), " ", "_") + ":" + time.Now().Format(time.RFC3339Nano) + ":"
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, key := range keysOf(ctx, t, client, prefix) {
			if err := client.Del(ctx, key).Err(); err != nil {
				t.Error(err)
			}
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client, prefix
}

func keysOf(ctx context.Context, t *testing.T, client *goredis.Client, prefix string) []string {
	t.Helper()
	var keys []string
	for each := client.Scan(ctx, 0, prefix+"*", 1000).Iterator(); each.Next(ctx); {
		keys = append(keys, each.Val())
	}
	return keys
}

// clock is the time of a test, which only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestCounter(t *testing.T) {
	t.Parallel()

	throttletest.TestCounter(t, func(t *testing.T, body func(*testing.T, throttle.Counter, func(time.Duration))) {
		t.Helper()
		client, prefix := open(t)
		// Redis lets a key go after a window of its own clock. A test is shorter than one.
		at := &clock{now: time.Now()}
		counter := Counter(client, &Options{Prefix: prefix, Timeout: 10 * time.Second})
		counter.now = at.read
		body(t, counter, at.pass)
	})
}

func TestCounterByTheServersClock(t *testing.T) {
	t.Parallel()

	client, prefix := open(t)
	counter := Counter(client, &Options{Prefix: prefix, Timeout: 10 * time.Second})
	rate := throttle.Rate{Limit: 2, Window: 200 * time.Millisecond}
	for range rate.Limit {
		if state := take(t, counter, rate); !state.Allowed {
			t.Fatalf("refused below the limit: %+v", state)
		}
	}

	// It is refused until it has waited as long as it was told, and allowed right after.
	for deadline := time.Now().Add(10 * time.Second); ; {
		state := take(t, counter, rate)
		if state.Allowed {
			return
		}
		if state.RetryAfter <= 0 || state.RetryAfter > rate.Window {
			t.Fatalf("told to wait %s of a window of %s", state.RetryAfter, rate.Window)
		}
		if time.Now().After(deadline) {
			t.Fatal("never allowed again")
		}
		<-time.After(state.RetryAfter)
	}
}

func TestCounterKeepsNoNamesAndEnds(t *testing.T) {
	t.Parallel()

	client, prefix := open(t)
	counter := Counter(client, &Options{Prefix: prefix, Timeout: 10 * time.Second})
	if _, err := counter.Take(t.Context(), "user:ada@example.org", throttle.MustParse("5/min")); err != nil {
		t.Fatal(err)
	}
	keys := keysOf(t.Context(), t, client, prefix)
	if len(keys) != 1 || strings.Contains(keys[0], "ada") {
		t.Fatalf("keys %q, want one without the name of the caller", keys)
	}
	left, err := client.PTTL(t.Context(), keys[0]).Result()
	if err != nil || left <= 0 || left > time.Minute {
		t.Errorf("the key lives for %s (%v), want up to a minute", left, err)
	}
}

func TestCounterLoadsItsScriptAgain(t *testing.T) {
	t.Parallel()

	client, prefix := open(t)
	counter := Counter(forgetful{client}, &Options{Prefix: prefix, Timeout: 10 * time.Second})
	if state := take(t, counter, throttle.MustParse("5/min")); !state.Allowed || state.Remaining != 4 {
		t.Errorf("a server that does not know the script: %+v", state)
	}
}

// forgetful is a server that has just been restarted.
type forgetful struct{ goredis.Scripter }

func (f forgetful) EvalSha(ctx context.Context, _ string, keys []string, args ...any) *goredis.Cmd {
	return f.Scripter.EvalSha(ctx, strings.Repeat("0", 40), keys, args...)
}

func TestCounterWithAnEarlierClock(t *testing.T) {
	t.Parallel()

	client, prefix := open(t)
	at := &clock{now: time.Now()}
	counter := Counter(client, &Options{Prefix: prefix, Timeout: 10 * time.Second})
	counter.now = at.read
	rate := throttle.MustParse("2/10s")
	take(t, counter, rate)
	take(t, counter, rate)
	at.pass(-time.Hour)
	if state := take(t, counter, rate); state.Allowed || state.RetryAfter != 10*time.Second {
		t.Errorf("after the clock went back: %+v, want a wait of 10s", state)
	}
}

func TestCounterOfTwoProcesses(t *testing.T) {
	t.Parallel()

	client, prefix := open(t)
	rate := throttle.MustParse("3/min")
	one, two := Counter(client, &Options{Prefix: prefix, Timeout: 10 * time.Second}),
		Counter(client, &Options{Prefix: prefix})
	take(t, one, rate)
	if state := take(t, two, rate); state.Remaining != 1 {
		t.Errorf("the second counter says %+v, want 1 remaining", state)
	}
	other := Counter(client, &Options{Prefix: prefix + "other:", Timeout: 10 * time.Second})
	if state := take(t, other, rate); state.Remaining != 2 {
		t.Errorf("a counter with another prefix says %+v, want 2 remaining", state)
	}
}

func TestCounterWithoutServer(t *testing.T) {
	t.Parallel()

	client := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	if state, err := Counter(client, nil).Take(t.Context(), "a", throttle.MustParse("5/min")); err == nil ||
		state.Allowed {
		t.Errorf("got %+v, %v, want an error", state, err)
	}
}

func TestCounterDoesNotWaitForever(t *testing.T) {
	t.Parallel()

	counter := Counter(stuck{}, &Options{Timeout: time.Millisecond})
	_, err := counter.Take(t.Context(), "a", throttle.MustParse("5/min"))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}

// stuck is a server that answers nothing.
type stuck struct{ goredis.Scripter }

func (stuck) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *goredis.Cmd {
	<-ctx.Done()
	cmd := goredis.NewCmd(ctx)
	cmd.SetErr(ctx.Err())
	return cmd
}

func TestCounterNeedsAClient(t *testing.T) {
	t.Parallel()

	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Counter(nil, nil)
}

func take(t *testing.T, c throttle.Counter, rate throttle.Rate) throttle.State {
	t.Helper()
	state, err := c.Take(t.Context(), "a", rate)
	if err != nil {
		t.Fatal(err)
	}
	return state
}
