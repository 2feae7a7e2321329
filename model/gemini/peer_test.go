package gemini_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	fake "github.com/spoolhq/spool/internal/testing/fake/gemini"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/model/gemini"
)

// testModel is the model of most tests. It is one of Gemini 3.
const testModel = "gemini-3-test"

// peer is a strict server of the Gemini API.
type peer struct {
	*fake.Server

	http *httptest.Server
	gone chan struct{}
	once sync.Once
}

func newPeer(t *testing.T, config fake.Config) *peer {
	t.Helper()

	p := &peer{Server: fake.New(config), gone: make(chan struct{})}
	p.http = httptest.NewServer(p.Server)
	// A test that waits for what the script never sends has an end.
	limit := time.AfterFunc(2*testwait.Limit, func() {
		t.Errorf("a model server was used for %s", 2*testwait.Limit)
		p.http.CloseClientConnections()
	})
	t.Cleanup(func() { limit.Stop() })
	t.Cleanup(p.http.Close)
	return p
}

// left tells that the caller has gone away.
func (p *peer) left() { p.once.Do(func() { close(p.gone) }) }

// model returns a model of the peer.
func (p *peer) model(t *testing.T, config gemini.Config) *gemini.Model {
	t.Helper()

	config.BaseURL = p.http.URL
	if config.Model == "" {
		config.Model = testModel
	}
	if config.Transport == nil {
		transport := new(http.Transport)
		t.Cleanup(transport.CloseIdleConnections)
		config.Transport = transport
	}
	m, err := gemini.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// answerWith returns a configuration whose answer is always the same.
func answerWith(a fake.Answer) fake.Config {
	return fake.Config{Answer: func(*fake.Request) fake.Answer { return a }}
}
