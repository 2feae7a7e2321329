package openai_test

import (
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	fake "github.com/spoolhq/spool/internal/testing/fake/openai"
	"github.com/spoolhq/spool/model/openai"
)

// The host of the base URL chooses the profile, and so does the name in the configuration.
func TestProfileOf(t *testing.T) {
	t.Parallel()

	for _, c := range []struct{ url, model, want string }{
		{"", "gpt-5", "openai"},
		{"https://acme.openai.azure.com/openai/v1", "gpt-5-mini", "azure"},
		{"https://acme.services.ai.azure.com/openai/v1", "my-deployment", "azure"},
		{"https://eu.api.openai.com/v1", "gpt-5", "openai"},
		{"https://API.DeepSeek.com:443", "deepseek-chat", "deepseek"},
		{"https://us-east-1.api.x.ai/v1", "grok-4", "xai"},
		{
			"https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi",
			"google/gemini-3-pro", "gemini",
		},
		{"https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.5", "openrouter"},
		{"https://eu.openrouter.ai/api/v1", "x-ai/grok-4", "openrouter"},
		{"https://api.deepseek.com", "deepseek-chat", "deepseek"},
		{"https://api.moonshot.ai/v1", "kimi-k2.5", "kimi"},
		{"https://api.moonshot.cn/v1", "kimi-k2-thinking", "kimi"},
		{"https://api.z.ai/api/paas/v4", "glm-4.7", "glm"},
		{"https://api.x.ai/v1", "grok-4", "xai"},
		{"https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro", "gemini"},
		{"https://api.mistral.ai/v1", "magistral-medium", "mistral"},
		{"https://api.groq.com/openai/v1", "qwen3-32b", "groq"},
		{"https://ai-gateway.vercel.sh/v1", "xai/grok-4", "vercel"},
		{"https://acme.snowflakecomputing.com/api/v2/cortex/v1", "claude", "snowflake"},
		{"https://adb-1.7.azuredatabricks.net/serving-endpoints", "claude", "databricks"},
		{"https://acme.cloud.databricks.com/serving-endpoints", "claude", "databricks"},
		{"https://router.huggingface.co/v1", "deepseek-ai/DeepSeek-R1", "huggingface"},
		{"http://127.0.0.1:11434/v1", "qwen3", "default"},
		{"https://api.deepseek.com.example.com/v1", "deepseek-chat", "default"},
		{"https://openai.azure.com/v1", "gpt-5", "default"},
		{"https://notopenrouter.ai/v1", "m", "default"},
	} {
		m, err := openai.New(openai.Config{BaseURL: c.url, Model: c.model})
		if err != nil || m.Profile() != c.want {
			t.Errorf("%s, %s: %v, want %s", c.url, c.model, m, c.want)
		}
	}
	for _, p := range openai.Profiles() {
		m, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:1/v1", Model: "m", Profile: p.Name})
		if err != nil || m.Profile() != p.Name || p.Seen == "" {
			t.Errorf("%s: %v, %v", p.Name, m, err)
		}
	}
	_, err := openai.New(openai.Config{Model: "m", Profile: "deepsek"})
	if spool.CodeOf(err) != spool.Invalid ||
		!strings.HasPrefix(err.Error(), "Profile must be one of openai, azure, openrouter, deepseek,") {
		t.Errorf("got %v", err)
	}
}

// Each profile has a dialect in the matrix, apart from those that only differ in names and costs.
func TestProfilesAreInTheMatrix(t *testing.T) {
	t.Parallel()

	for _, p := range openai.Profiles() {
		known := slices.ContainsFunc(fake.Dialects(), func(d fake.Dialect) bool { return d.Profile == p.Name })
		if !known && !slices.Contains([]string{"openai", "gemini", "vercel", "default"}, p.Name) {
			t.Errorf("the profile %s has no dialect", p.Name)
		}
	}
}

// Each setting of a profile can be changed alone.
func TestSettingsWinOverTheProfile(t *testing.T) {
	t.Parallel()

	r := fullRequest()
	r.Messages = foreignThread()
	r.Messages = append(r.Messages[:3:3], userSays("Say a word.")) // directly behind the results
	for _, c := range []struct {
		config openai.Config
		want   string // also "!text" for what is not there
	}{
		{openai.Config{Profile: "mistral"}, `!"stream_options"`},
		{openai.Config{Profile: "mistral", StreamUsage: new(true)}, `"stream_options"`},
		{openai.Config{Profile: "deepseek"}, `"reasoning_content":" "`},
		{openai.Config{Profile: "deepseek", ReasoningField: "-"}, `!"reasoning_content"`},
		{openai.Config{Profile: "deepseek", ReasoningNeeded: openai.NeededNever}, `!"reasoning_content"`},
		{openai.Config{Profile: "deepseek", ReasoningField: "thoughts"}, `"thoughts":" "`},
		{openai.Config{Profile: "azure", Model: "gpt-5"}, `"max_completion_tokens":9`},
		{openai.Config{Profile: "azure", Model: "gpt-5", MaxTokensField: "max_tokens"}, `"max_tokens":9`},
		{openai.Config{Profile: "openai"}, `"prompt_cache_key":"k"`},
		{openai.Config{Profile: "openai", PromptCache: openai.CacheNone}, `!"prompt_cache_key"`},
		{openai.Config{Profile: "mistral"}, `"content":"Understood."`},
		{openai.Config{Profile: "mistral", AnswerAfterResults: new(false)}, `!"content":"Understood."`},
		{
			openai.Config{AnswerAfterResults: new(true), ReasoningField: "thoughts", ReasoningNeeded: openai.NeededAlways},
			`"content":"Understood.","role":"assistant","thoughts":" "`,
		},
		{openai.Config{StrictSchemas: new(false)}, `!"strict"`},
		{openai.Config{ParallelToolCalls: new(false)}, `!"parallel_tool_calls"`},
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { send(w, finishChunk("stop")) })
		if _, err := stream(t, p.model(t, c.config), r); err != nil {
			t.Fatal(err)
		}
		text, absent := strings.CutPrefix(c.want, "!")
		if body := p.requests()[0]; strings.Contains(body, text) == absent {
			t.Errorf("%+v: %s in %s", c.config, c.want, body)
		}
	}
	for want, config := range map[string]openai.Config{
		"<think>a</think>b stop": {ThinkingTags: new(false)}, "(a)b stop": {Profile: "openai", ThinkingTags: new(true)},
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			send(w, textChunk("<think>a</think>b"), finishChunk("stop"))
		})
		events, err := stream(t, p.model(t, config), spool.ModelRequest{})
		if got := heard(events); err != nil || got != want {
			t.Errorf("got %q, want %q, %v", got, want, err)
		}
	}
}

var nameForm = regexp.MustCompile(`"name":"([^"]*)"`)

// A name that a model made up goes back in a form that each server takes.
func TestNamesOnTheWire(t *testing.T) {
	t.Parallel()

	p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) { send(w, finishChunk("stop")) })
	if _, err := stream(
		t, p.model(t, openai.Config{}), spool.ModelRequest{Messages: foreignThread(), Tools: echoTool},
	); err != nil {
		t.Fatal(err)
	}
	names := nameForm.FindAllStringSubmatch(p.requests()[0], -1)
	if len(names) != 3 {
		t.Errorf("names %q", names)
	}
	for _, name := range names {
		if !regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`).MatchString(name[1]) {
			t.Errorf("the name %q", name[1])
		}
	}
	if strings.Contains(p.requests()[0], "Theirs.") {
		t.Error("sent the reasoning of another provider")
	}
}

// xAI counts in ticks, OpenRouter in dollars, and an unknown server may use the field for something else.
func TestReportedCosts(t *testing.T) {
	t.Parallel()

	for profile, c := range map[string]struct {
		usage string
		want  int64
	}{
		"xai": {`{"cost_in_usd_ticks":37756000}`, 3776}, "openrouter": {`{"cost":0.0123456}`, 12346},
		"vercel": {`{"cost":0.5}`, 500_000}, "default": {`{"cost":0.5,"cost_in_usd_ticks":37756000}`, -1},
	} {
		p := newPeer(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			send(w, textChunk("Hi."), finishChunk("stop"), usageChunk(c.usage), "[DONE]")
		})
		m := p.model(t, openai.Config{Profile: profile})
		events, err := stream(t, m, spool.ModelRequest{})
		if err != nil {
			t.Fatal(err)
		}
		cost := finishOf(t, events).Cost
		if (m.Describe().ReceiptCurrency == "USD") != (c.want >= 0) || (cost != nil) != (c.want >= 0) ||
			cost != nil && (cost.Micros != c.want || cost.Currency != "USD") {
			t.Errorf("%s: %+v, reports in %q", profile, cost, m.Describe().ReceiptCurrency)
		}
	}
}

// A server on the user's own machine has longer until its first byte.
func TestTimeoutsOfProfiles(t *testing.T) {
	t.Parallel()

	for profile, want := range map[string]string{"ollama": "within 10m0s", "default": "within 2m0s"} {
		synctest.Test(t, func(t *testing.T) {
			m, err := openai.New(openai.Config{
				Model: "m", BaseURL: "http://127.0.0.1:1/v1", Profile: profile, Transport: paced([]time.Duration{time.Hour}),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := stream(t, m, spool.ModelRequest{}); !strings.Contains(modelError(t, err).Message, want) {
				t.Errorf("%s: got %v", profile, err)
			}
		})
	}
}

// The guide has a row for each profile.
func TestProfilesAreInTheGuide(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/guides/models.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range openai.Profiles() {
		row := regexp.MustCompile("(?m)^\\| [^|]*`" + p.Name + "`[^|]* \\|")
		if !row.Match(page) {
			t.Errorf("the guide has no row of %s", p.Name)
		}
	}
}
