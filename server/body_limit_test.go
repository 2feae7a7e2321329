package server_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

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
		if got := b.as(t, tokenA, http.MethodPost, path, fits); got.status != http.StatusBadRequest &&
			got.status != http.StatusForbidden {
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

// heldBody is a body that does not end before end is closed.
type heldBody struct {
	text *strings.Reader
	end  <-chan struct{}
}

// Read implements [io.Reader].
func (b heldBody) Read(p []byte) (int, error) {
	if b.text.Len() == 0 {
		<-b.end
	}
	return b.text.Read(p)
}

// While the bodies of others take all memory that there is for bodies, one more is asked to
// come again, and a run can still be stopped. What a body has taken is given back.
func TestBodyMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 1 << 20
		e, s := tokenServer(t, server.Config{Authenticator: twoTenants(t), MaxBodyBytes: most, BodyMemory: 2 * most})
		defer e.Close()
		text := `{"threadId":1,"x":"` + strings.Repeat("x", most*3/4) + `"}`
		send := func(path, text string, end <-chan struct{}) answer {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, heldBody{strings.NewReader(text), end})
			r.ContentLength = int64(len(text))
			r.Header.Set("Authorization", "Bearer "+tokenA)
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			return answer{w.Code, w.Header(), w.Body.String()}
		}
		whole := make(chan struct{})
		close(whole)
		for range 3 { // nothing is lost from round to round
			end, first := make(chan struct{}), make(chan answer, 2)
			for range cap(first) {
				go func() { first <- send(runPath, text, end) }()
			}
			synctest.Wait() // until the server has all of both but their ends
			if got := send(runPath, text, whole); got.status != http.StatusServiceUnavailable ||
				got.header.Get("Retry-After") == "" ||
				!strings.Contains(got.body, `"unavailable"`) {
				t.Errorf("a third large body: %d %v %s", got.status, got.header, got.body)
			}
			if got := send("/api/agent/control", `{"threadId":"t1","action":"stop"}`, whole); got.status != http.StatusOK {
				t.Errorf("a stop: %d %s", got.status, got.body)
			}
			close(end)
			for range cap(first) {
				if got := <-first; got.status != http.StatusBadRequest || !strings.Contains(got.body, "threadId") {
					t.Errorf("a body that was first: %d %s", got.status, got.body)
				}
			}
			if got := send(runPath, text, whole); got.status != http.StatusBadRequest ||
				!strings.Contains(got.body, "threadId") {
				t.Errorf("behind them: %d %s", got.status, got.body)
			}
			if got := send(runPath, `{"threadId":"t1","prompt":"again"}`, whole); got.status != http.StatusAccepted {
				t.Errorf("a run to stop: %d %s", got.status, got.body)
			}
		}
	})
}

// countedBody counts what is read of it.
type countedBody struct {
	io.Reader

	read int
}

// Read implements [io.Reader].
func (b *countedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

// Of 10 MB of junk no more is read than the bound of the path, and none where the length was announced.
func TestJunkIsNotRead(t *testing.T) {
	t.Parallel()
	const junk, maxBody = 10 << 20, 1 << 20
	b := setup(t, server.Config{MaxBodyBytes: maxBody})
	for path, limit := range map[string]int{
		"/api/agent/control": 64 << 10, "/api/agent/respond": maxBody, "/api/agent/run": maxBody, "/api/agent/ag-ui": maxBody,
		"/api/admin/prune": 64 << 10,
	} {
		for _, announced := range []bool{false, true} {
			body := &countedBody{Reader: strings.NewReader(strings.Repeat(`{"[,:`, junk/5))}
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, body)
			r.ContentLength = -1
			if announced {
				r.ContentLength = junk
			}
			r.Header.Set("Authorization", "Bearer "+tokenA)
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			b.server.ServeHTTP(w, r)
			want := fmt.Sprintf(`{"error":"the body is larger than %d bytes","code":"too_large"}`, limit)
			if w.Code != http.StatusRequestEntityTooLarge || strings.TrimSpace(w.Body.String()) != want {
				t.Errorf("%s: %d %s, want %s", path, w.Code, w.Body, want)
			}
			if most := limit + 1; body.read > most || announced && body.read > 0 {
				t.Errorf("%s, announced %t: %d bytes are read, the bound is %d", path, announced, body.read, most)
			}
		}
	}
}
