package openai

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// Profile says what a server sends and wants, as far as servers differ in it. The zero value is a server that takes
// everything that the package sends by default, and needs nothing else. The fields of [Config] win over those of the
// profile.
type Profile struct {
	// Name is the name in [Config.Profile]. Several rows may have it, for different models.
	Name string
	// Hosts are the hosts whose models have the profile by themselves, in lower case. "*.example.com" stands for all
	// hosts that end so. Empty: the profile is chosen by its name only, because such servers run anywhere.
	Hosts []string
	// Models are the beginnings of the names of the models that the row is for, in lower case. Empty: all models.
	Models []string
	// Seen is what was recorded of the server, or reported by its users.
	Seen string

	// MaxTokensField is as in [Config]. Empty: "max_tokens".
	MaxTokensField string
	// ReasoningField and ReasoningNeeded are as in [Config].
	ReasoningField  string
	ReasoningNeeded ReasoningNeeded
	// ShortCallIDs says that ids of calls have exactly nine letters and digits.
	ShortCallIDs bool
	// OutputFromTotal is as in [Config].
	OutputFromTotal bool
	// ThinkingTags is as in [Config].
	ThinkingTags bool
	// NoStreamUsage, NoStrictSchemas and NoParallelToolCalls say that the server refuses stream_options, strict and
	// parallel_tool_calls.
	NoStreamUsage, NoStrictSchemas, NoParallelToolCalls bool
	// NoResultImages says that no model of the server takes images.
	NoResultImages bool
	// AnswerAfterResults is as in [Config].
	AnswerAfterResults bool
	// PromptCache is as in [Config]. Empty: [CacheNone].
	PromptCache PromptCache
	// ReceiptCurrency is as in [Config]. Empty: the server reports no costs.
	ReceiptCurrency string
	// HeaderTimeout and IdleTimeout are as in [Config]. Zero: its defaults.
	HeaderTimeout, IdleTimeout time.Duration
}

// ReasoningNeeded says which messages of a model must have the reasoning field of [Config.ReasoningField].
type ReasoningNeeded string

// The messages that must have a reasoning field. A message whose reasoning is not known has a blank in it: DeepSeek's
// larger models refuse an empty text.
const (
	// NeededNever sends the field only if a message has reasoning.
	NeededNever ReasoningNeeded = "never"
	// NeededCalls sends it in all messages with tool calls.
	NeededCalls ReasoningNeeded = "calls"
	// NeededAlways sends it in all messages of the model.
	NeededAlways ReasoningNeeded = "always"
)

// inContent is the ReasoningField of a server that takes reasoning as a part of the content.
const inContent = "content"

// loading is how long a server on the user's own machine may take to load a model and to read a long prompt.
const loading = 10 * time.Minute

// defaultProfile is for servers that no row describes.
var defaultProfile = Profile{Name: "default", ThinkingTags: true, Seen: "every server that no other row describes"}

// profiles has a row for each server. The first row that matches the host and the model counts. Tests demand that a new
// server has a row of the guide, and a dialect in the matrix.
var profiles = []Profile{
	{
		Name: "openai", Hosts: []string{"api.openai.com", "*.api.openai.com"}, MaxTokensField: "max_completion_tokens",
		PromptCache: CacheKey, Seen: "refuses max_tokens for its reasoning models",
	},
	{
		Name: "azure", Hosts: azureHosts, Models: []string{"gpt-5", "o1", "o3", "o4"},
		MaxTokensField: "max_completion_tokens", Seen: "refuses max_tokens for gpt-5 and the o-series",
	},
	{Name: "azure", Hosts: azureHosts, Seen: "older models, and deployments with names of their own"},
	{
		Name: "openrouter", Hosts: openRouterHosts, Models: []string{"anthropic/", "google/gemini"}, ThinkingTags: true,
		PromptCache: CacheMarks, ReceiptCurrency: "USD", Seen: "models whose cache needs marks",
	},
	{
		Name: "openrouter", Hosts: openRouterHosts, ThinkingTags: true, ReceiptCurrency: "USD",
		Seen: "signed reasoning_details, which must come back unchanged; the finish word error; usage.cost",
	},
	{
		Name: "deepseek", Hosts: []string{"api.deepseek.com"}, ReasoningField: "reasoning_content",
		ReasoningNeeded: NeededAlways, ThinkingTags: true,
		Seen: "refuses an answer without its reasoning_content; the finish word insufficient_system_resource",
	},
	{
		Name: "kimi", Hosts: []string{"api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"},
		ReasoningField: "reasoning_content", ReasoningNeeded: NeededCalls, ThinkingTags: true,
		Seen: "refuses calls without their reasoning_content; ids such as functions.look:0",
	},
	{
		Name: "glm", Hosts: []string{"api.z.ai", "open.bigmodel.cn"}, ReasoningField: "reasoning_content", ThinkingTags: true,
		Seen: "takes reasoning_content; the finish words sensitive, network_error and model_context_window_exceeded",
	},
	{
		Name: "xai", Hosts: []string{"api.x.ai", "*.api.x.ai"}, OutputFromTotal: true, ReceiptCurrency: "USD",
		Seen: "leaves the reasoning out of completion_tokens; usage.cost_in_usd_ticks",
	},
	{
		Name: "gemini", Hosts: []string{
			"generativelanguage.googleapis.com", "aiplatform.googleapis.com", "*-aiplatform.googleapis.com",
		},
		OutputFromTotal: true, Seen: "leaves the reasoning out of completion_tokens; signed calls in extra_content",
	},
	{
		Name: "mistral", Hosts: []string{"api.mistral.ai"}, ReasoningField: inContent, ShortCallIDs: true,
		NoStreamUsage: true, ThinkingTags: true,
		AnswerAfterResults: true,
		Seen: "thinking as a part of the content; refuses stream_options, ids without nine letters and digits, and a user's message directly " +
			"behind results; the finish word model_length",
	},
	{
		Name: "groq", Hosts: []string{"api.groq.com"}, NoStreamUsage: true, ThinkingTags: true,
		Seen: "refuses stream_options, and reports the usage in x_groq; <think> in the content with the raw format",
	},
	{
		Name: "vercel", Hosts: []string{"ai-gateway.vercel.sh"}, ThinkingTags: true, ReceiptCurrency: "USD",
		Seen: "usage.cost",
	},
	{
		Name: "snowflake", Hosts: []string{"*.snowflakecomputing.com"}, ThinkingTags: true,
		Seen: "ends with [DONE] and the usage, without a finish word",
	},
	{
		Name: "databricks", Hosts: []string{"*.databricks.com", "*.azuredatabricks.net"}, NoStreamUsage: true,
		ThinkingTags: true, Seen: "refuses stream_options; reasoning as a list in the content",
	},
	{
		Name: "huggingface", Hosts: []string{"router.huggingface.co", "*.endpoints.huggingface.cloud"}, ThinkingTags: true,
		Seen: "<think> at the beginning of the content; the finish word eos_token",
	},
	{
		Name: "foundry-local", ThinkingTags: true, HeaderTimeout: loading,
		Seen: "a choice index that grows with each chunk; message beside delta, with the same text",
	},
	{Name: "lmstudio", ThinkingTags: true, HeaderTimeout: loading, Seen: "<think> at the beginning of the content"},
	{
		Name: "llamacpp", ThinkingTags: true, HeaderTimeout: loading,
		Seen: "reasoning_content, or <think> in the content without a parser; the first byte after minutes",
	},
	{
		Name: "vllm", ThinkingTags: true, HeaderTimeout: loading,
		Seen: "reasoning or reasoning_content; names with parts of gpt-oss's template; older versions refuse stream_options",
	},
	{
		Name: "sglang", ThinkingTags: true, HeaderTimeout: loading,
		Seen: "reasoning_content; the finish word abort",
	},
	{
		Name: "ollama", ThinkingTags: true, HeaderTimeout: loading,
		Seen: "reasoning; a count of the prompt without what was cached; the first byte after minutes",
	},
	defaultProfile,
}

var (
	azureHosts      = []string{"*.openai.azure.com", "*.services.ai.azure.com", "*.cognitiveservices.azure.com"}
	openRouterHosts = []string{"openrouter.ai", "*.openrouter.ai"}
)

// Profiles returns the known profiles. The first one that matches the host and the model of a [Config] counts, and the
// last one is for all others.
func Profiles() []Profile { return slices.Clone(profiles) }

// profileOf returns the profile of a server and a model. Name is the profile's name if it was chosen.
func profileOf(name string, base *url.URL, model string) (p Profile, found bool) {
	for _, p := range profiles {
		if (name == p.Name || name == "" && p.hasHost(strings.ToLower(base.Hostname()))) && p.hasModel(model) {
			return p, true
		}
	}
	return defaultProfile, name == ""
}

func (p Profile) hasHost(host string) bool {
	return slices.ContainsFunc(p.Hosts, func(pattern string) bool {
		below, ok := strings.CutPrefix(pattern, "*")
		return host == pattern || ok && strings.HasSuffix(host, below)
	})
}

func (p Profile) hasModel(model string) bool {
	model = strings.ToLower(model)
	return len(p.Models) == 0 || slices.ContainsFunc(p.Models,
		func(beginning string) bool { return strings.HasPrefix(model, beginning) })
}

// unknownProfile returns the error for a name that no profile has.
func unknownProfile() error {
	var names []string
	for _, p := range profiles {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return spool.Errorf(spool.Invalid, "Profile must be one of %s", strings.Join(names, ", "))
}
