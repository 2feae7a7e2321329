package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
)

// Only bodies that may have images may be large.
func TestBodiesAreBoundedByWhatTheyMayHave(t *testing.T) {
	t.Parallel()
	b := setup(t, server.Config{})
	for path, limit := range map[string]int{
		"/api/agent/control": 64 << 10, "/api/agent/compact": 64 << 10, "/api/agent/stream-token": 64 << 10,
		"/api/agent/branches/restore": 64 << 10, "/api/admin/prune": 64 << 10,
		"/api/agent/respond": 1 << 20, "/api/agent/events": 1 << 20,
		"/api/agent/run": 32 << 20, "/api/agent/ag-ui": 32 << 20,
	} {
		const field = `{"threadId":1,"x":"`
		fits := field + strings.Repeat("x", limit-len(field)-2) + `"}`
		if got := b.as(t, tokenA, http.MethodPost, path, fits); got.status != http.StatusBadRequest && got.status != http.StatusForbidden {
			t.Errorf("%s: a body that fits: %d %s", path, got.status, got.body)
		}
		for _, chunked := range []bool{false, true} {
			c := call{method: http.MethodPost, path: path, body: fits + " ", token: tokenA}
			got := b.doChunked(t, c, chunked)
			if got.status != http.StatusRequestEntityTooLarge || !strings.Contains(got.body, `"too_large"`) {
				t.Errorf("%s: a body that is larger (chunked: %v): %d %s", path, chunked, got.status, got.body)
			}
		}
	}
}

// doChunked is do without an announced length, where that is asked for.
func (b *bundle) doChunked(t *testing.T, c call, chunked bool) answer {
	t.Helper()
	r := b.request(t, c)
	if chunked {
		r.ContentLength, r.Body = -1, io.NopCloser(io.MultiReader(strings.NewReader(c.body)))
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, strings.TrimSpace(string(text))}
}

func TestBodyOfManyValues(t *testing.T) {
	t.Parallel()
	b := setup(t, server.Config{})
	for name, c := range map[string]struct {
		body, want string
		status     int
	}{
		"attachments": {
			`{"prompt":"x","attachments":[` + strings.Repeat("{},", 60_000) + `{}]}`,
			`{"error":"the body has more than 100000 values","code":"too_large"}`, http.StatusRequestEntityTooLarge,
		},
		"depth": {
			`{"prompt":"x","providerOptions":` + strings.Repeat("[", 256) + strings.Repeat("]", 256) + `}`,
			`{"error":"the body is nested deeper than 256 arrays and objects","code":"invalid"}`, http.StatusBadRequest,
		},
	} {
		if got := b.as(t, tokenA, http.MethodPost, "/api/agent/run", c.body); got.status != c.status || got.body != c.want {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// slowBody is a request whose body lacks its last byte. Done has the answer.
type slowBody struct {
	done   <-chan answer
	finish func() answer
}

// While the bodies of others take all memory that there is for bodies, one more is asked to
// come again, and a run can still be stopped. What a body has taken is given back.
func TestBodyMemory(t *testing.T) {
	t.Parallel()
	const most = 1 << 20
	b := setup(t, server.Config{MaxBodyBytes: most, BodyMemory: 2 * most})
	text := `{"prompt":"` + strings.Repeat("x", most*3/4) + `"}`
	open := func() slowBody {
		read, write := io.Pipe()
		r := b.request(t, call{method: http.MethodPost, path: "/api/agent/run", token: tokenA, body: "{}"})
		r.ContentLength, r.Body = int64(len(text)), read
		done := make(chan answer, 1)
		go func() {
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Error(err)
				done <- answer{}
				return
			}
			defer res.Body.Close()
			body, _ := io.ReadAll(res.Body)
			done <- answer{res.StatusCode, res.Header, string(body)}
		}()
		_, _ = io.WriteString(write, text[:len(text)-1])
		return slowBody{done, func() answer {
			_, _ = io.WriteString(write, text[len(text)-1:])
			_ = write.Close()
			return <-done
		}}
	}
	post := func(path, body string) answer { return b.as(t, tokenA, http.MethodPost, path, body) }
	for range 3 { // nothing is lost from round to round
		first := []slowBody{open(), open()}
		var refused answer
		for range 200 { // until the server has read what was sent
			for i, b := range first {
				select {
				case early := <-b.done: // the third was read before it
					if early.status != http.StatusServiceUnavailable {
						t.Fatalf("a body that is not whole: %d %s", early.status, early.body)
					}
					first[i] = open()
				default:
				}
			}
			if refused = post("/api/agent/run", text); refused.status == http.StatusServiceUnavailable {
				break
			}
		}
		if refused.status != http.StatusServiceUnavailable || refused.header.Get("Retry-After") == "" ||
			!strings.Contains(refused.body, `"unavailable"`) {
			t.Fatalf("a third large body: %d %v %s", refused.status, refused.header, refused.body)
		}
		if got := post("/api/agent/control", `{"threadId":"t1","action":"stop"}`); got.status == http.StatusServiceUnavailable {
			t.Errorf("a stop: %d %s", got.status, got.body)
		}
		whole := 0
		for _, b := range first {
			switch got := b.finish(); {
			case got.status == http.StatusBadRequest && strings.Contains(got.body, "prompt"):
				whole++
			case got.status != http.StatusServiceUnavailable: // the third was read beside it
				t.Errorf("a body that was first: %d %s", got.status, got.body)
			}
		}
		if whole == 0 {
			t.Error("each body was refused because of another")
		}
		if got := post("/api/agent/run", text); got.status != http.StatusBadRequest {
			t.Errorf("behind them: %d %s", got.status, got.body)
		}
	}
}
