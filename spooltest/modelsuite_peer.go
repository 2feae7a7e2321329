package spooltest

import "github.com/spoolhq/spool"

// ModelSecret is the key that the models of [TestModel] get. It must never appear in an error.
const ModelSecret = "sk-spooltest-secret-0815"

// ModelScenario says what the provider answers in one test of [TestModel]. All answers come in several
// pieces.
type ModelScenario string

// The scenarios.
const (
	// ModelText: the text "Hello, world.", with 12 tokens of input and 4 of output.
	ModelText ModelScenario = "text"
	// ModelParallelTools: the text "Looking." and then two calls, of weather with {"city":"Oslo"} and
	// of clock with {"zone":"UTC"}. The finish reason is the one for tool calls. If a request has tool
	// results, the answer is the text "Done.".
	ModelParallelTools ModelScenario = "parallel-tools"
	// ModelReasoning: the reasoning "Thinking hard." with the signature "sig-4711", then the text
	// "Forty-two.".
	ModelReasoning ModelScenario = "reasoning"
	// ModelImage: the text "A cat.".
	ModelImage ModelScenario = "image"
	// ModelCachedUsage: the text "Hi." with 100 tokens of input, 60 of them from a
	// cache, and 20 of output, 8 of them reasoning.
	ModelCachedUsage ModelScenario = "cached-usage"
	// ModelNoUsage: the text "Hi." without any usage.
	ModelNoUsage ModelScenario = "no-usage"
	// ModelLength: the text "Too lo", cut by the bound of the output.
	ModelLength ModelScenario = "length"
	// ModelRateLimited: status 429, with a request to retry after 7 seconds.
	ModelRateLimited ModelScenario = "rate-limited"
	// ModelUnavailable: status 503.
	ModelUnavailable ModelScenario = "unavailable"
	// ModelUnauthorized: status 401, with a message that repeats the key and is longer
	// than 10,000 bytes.
	ModelUnauthorized ModelScenario = "unauthorized"
	// ModelStreamError: the text "Half", then an error of the provider inside the stream.
	ModelStreamError ModelScenario = "stream-error"
	// ModelCut: the text "Half", then the connection breaks.
	ModelCut ModelScenario = "cut"
	// ModelNoFinish: the text "Half", then the stream ends cleanly, without a reason.
	ModelNoFinish ModelScenario = "no-finish"
	// ModelHang: the text "Half", then nothing until the caller goes away.
	ModelHang ModelScenario = "hang"
	// ModelHangAtOnce: not even headers until the caller goes away.
	ModelHangAtOnce ModelScenario = "hang-at-once"
	// ModelIdle: like ModelHang, for a model that gives up within a fraction of a second if an answer
	// is silent.
	ModelIdle ModelScenario = "idle"
)

// ModelPeer is a model and the provider that answers it according to a scenario.
type ModelPeer struct {
	Model spool.Model
	// Requests returns the bodies that the provider has received, in order.
	Requests func() []string
	// Gone is closed when the provider of [ModelHang] or [ModelHangAtOnce] sees that the caller has
	// gone away.
	Gone <-chan struct{}
}

// ModelFeatures says what a provider's interface can express. Tests that need a missing feature are
// skipped.
type ModelFeatures struct {
	// CachedUsage is true if the interface reports cached and reasoning tokens.
	CachedUsage bool
	// Images is true if a message may have images, by URL and as data.
	Images bool
	// SignedReasoning is true if reasoning has data that the provider wants back.
	SignedReasoning bool
}
