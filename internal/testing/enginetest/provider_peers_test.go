package enginetest

import (
	"net"
	"net/http"
	"time"

	"github.com/spoolhq/spool"
	fakeanthropic "github.com/spoolhq/spool/internal/testing/fake/anthropic"
	fakegemini "github.com/spoolhq/spool/internal/testing/fake/gemini"
	fakeopenai "github.com/spoolhq/spool/internal/testing/fake/openai"
	fakeresponses "github.com/spoolhq/spool/internal/testing/fake/responses"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/model/gemini"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/model/responses"
)

// peers are the providers of a campaign: strict fakes of all interfaces, and the models that ask them by HTTP.
type peers struct {
	campaign *campaign
	// models are by their names in the configuration. names are in order: two of each provider.
	models map[string]spool.Model
	names  []string

	openai    *fakeopenai.Server
	responses *fakeresponses.Server
	anthropic *fakeanthropic.Server
	gemini    *fakegemini.Server
}

// newPeers starts the fakes in the bubble of a campaign. They end with it.
func newPeers(c *campaign) *peers {
	p := &peers{campaign: c, models: make(map[string]spool.Model)}
	p.openai = fakeopenai.New(p.asOpenAI)
	p.responses = fakeresponses.New(p.asResponses)
	p.responses.Sign("the secret of a campaign")
	p.anthropic = fakeanthropic.New(fakeanthropic.Config{Answer: p.asAnthropic, Random: c.draws.reader("anthropic")})
	p.gemini = fakegemini.New(fakegemini.Config{
		Answer: p.asGemini, Keep: -1, Signing: []fakegemini.Signing{
			fakegemini.SignAsGemini3, fakegemini.SignAll,
		}[c.n(2, "peers")],
	})
	mux := http.NewServeMux()
	mux.Handle("openai.test/", p.openai)
	mux.Handle("responses.test/", p.responses)
	mux.Handle("anthropic.test/", p.anthropic)
	mux.Handle("gemini.test/", p.gemini)
	network := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	transport := &http.Transport{DialContext: network.dial, MaxIdleConnsPerHost: 10}
	go func() { _ = server.Serve(network) }()
	c.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
	})
	p.add(transport)
	return p
}

// add makes the models. The second one of each provider differs in its name and in its settings.
func (p *peers) add(transport http.RoundTripper) {
	c := p.campaign
	for n, name := range []string{"gpt-a", "gpt-b"} {
		m, err := openai.New(openai.Config{
			Model: name, BaseURL: "http://openai.test/v1", Transport: transport, ReasoningField: []string{"", "reasoning"}[n],
		})
		p.has(name, m, err)
	}
	for n, name := range []string{"resp-a", "resp-b"} {
		m, err := responses.New(responses.Config{
			Model: name, BaseURL: "http://responses.test/v1", Transport: transport, Background: n == 1, ReasoningSummary: "auto",
		})
		p.has(name, m, err)
	}
	thinking := []anthropic.Thinking{
		{
			Mode:    anthropic.ThinkingAdaptive,
			Display: []anthropic.Display{"", anthropic.DisplaySummarized, anthropic.DisplayOmitted}[c.n(3, "peers")],
		},
		{Mode: anthropic.ThinkingBudget, Budget: 2048},
	}
	for n, name := range []string{"claude-a", "claude-b"} {
		m, err := anthropic.New(anthropic.Config{
			Model: name, BaseURL: "http://anthropic.test", Transport: transport, Thinking: thinking[n],
		})
		p.has(name, m, err)
	}
	for n, name := range []string{"gemini-3-a", []string{"gemini-3-b", "gemini-2.5-b"}[c.n(2, "peers")]} {
		m, err := gemini.New(gemini.Config{
			Model: name, BaseURL: "http://gemini.test", Transport: transport, IncludeThoughts: n == 0,
		})
		p.has(name, m, err)
	}
}

func (p *peers) has(name string, m spool.Model, err error) {
	if err != nil {
		p.campaign.Fatal(err)
	}
	p.models[name], p.names = m, append(p.names, name)
}
