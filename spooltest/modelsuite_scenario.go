package spooltest

// ModelSecret is the key that the models of [TestModel] get. It must never appear in an error.
const ModelSecret = "sk-spooltest-secret-0815"

// ModelScenario says what the provider answers in one test of [TestModel]. All answers come in several
// pieces. A provider whose data are bytes sends them base64-encoded, and may send those in quotes as they
// are, because they are valid base64.
type ModelScenario string

// The scenarios of answers that finish.
const (
	// ModelText: the text "Hello, world.", with 12 tokens of input and 4 of output.
	ModelText ModelScenario = "text"
	// ModelParallelTools: the text "Looking." and then two calls, of weather with {"city":"Oslo"} and
	// of clock with {"zone":"UTC"}. The finish reason is the one for tool calls. If a request has tool
	// results, the answer is the text "Done.".
	ModelParallelTools ModelScenario = "parallel-tools"
	// ModelNoCalls: a call of weather with {"city":"Oslo"}. If a request says that the answer must have no call, the
	// answer is the text "Done.". The provider refuses with status 400 such a request if it has no tools.
	ModelNoCalls ModelScenario = "no-calls"
	// ModelWholeCalls: a call of weather with {"city":"Oslo"}, whose arguments come in one piece, together
	// with the name if the interface allows it. Then a call of coin without any arguments.
	ModelWholeCalls ModelScenario = "whole-calls"
	// ModelBrokenArguments: a call of weather with the arguments {"city":"Os, which are no JSON. The finish
	// reason is the one for tool calls. If a request has tool results, the answer is the text "Done.".
	ModelBrokenArguments ModelScenario = "broken-arguments"
	// ModelReasoning: the reasoning "Thinking hard." with the signature "sig-4711", then the text
	// "Forty-two.".
	ModelReasoning ModelScenario = "reasoning"
	// ModelImage: the text "A cat.".
	ModelImage ModelScenario = "image"
	// ModelFile: the text "A report.".
	ModelFile ModelScenario = "file"
	// ModelOutput: the value {"city":"Oslo","degrees":21}, in the way in which the request asks for it: as a
	// text, or as a call of the tool that the model has made up. If the request has the tool weather and no
	// tool results, the answer is a call of weather with {"city":"Oslo"}. The provider refuses with status
	// 400 a request that does not ask for the value.
	ModelOutput ModelScenario = "output"
	// ModelCachedUsage: the text "Hi." with 100 tokens of input, 60 of them from a
	// cache, and 20 of output, 8 of them reasoning.
	ModelCachedUsage ModelScenario = "cached-usage"
	// ModelNoUsage: the text "Hi." without any usage.
	ModelNoUsage ModelScenario = "no-usage"
	// ModelLength: the text "Too lo", cut by the bound of the output.
	ModelLength ModelScenario = "length"
	// ModelFilter: the text "I can", then the provider withholds the rest.
	ModelFilter ModelScenario = "filter"
	// ModelPause: the text "Half", then the provider's word for a pause. If the last message of a request is
	// that answer, the answer is the text " done.". The provider refuses other requests with two or more
	// messages with status 400.
	ModelPause ModelScenario = "pause"
	// ModelUnknownReason: the text "Odd." with the reason "spooltest_odd", in upper case if all words of
	// the interface are.
	ModelUnknownReason ModelScenario = "unknown-reason"
	// ModelUnknownEvents: the text "Hello, world." in two pieces. Between them are an event of the type
	// "spooltest.unknown", a comment if the interface has comments, and a known event with an unknown field.
	ModelUnknownEvents ModelScenario = "unknown-events"
)

// The scenarios of answers with data that the provider wants back.
const (
	// ModelSigned: the following blocks. A wire that cannot express a kind of data leaves the data out, and
	// the block too if it has nothing else: see [ModelFeatures].
	//
	//	reasoning "First thought." with the signature "sigR1/+A"
	//	sealed reasoning without a text, with the data "sealed/A"
	//	text "Looking." with the signature "sigT1/+A"
	//	a part that only the provider understands, with the data "part/++A"
	//	reasoning "Second thought." with the signature "sigR2/+A"
	//	call of weather with {"city":"Oslo"} and the signature "sigC1/+A"
	//	call of clock with {"zone":"UTC"}
	//
	// The finish reason is the one for tool calls. If a request has tool results, the provider is strict: it
	// answers the text "Done." if the request has all blocks in their order, each with its data, and refuses
	// with status 400 what is stripped, altered or moved. A request of [ModelPeer.Other] is refused if it
	// has any of the data.
	ModelSigned ModelScenario = "signed"
	// ModelForeign: the text "Fine.". The provider refuses with status 400 a request that has the word
	// "foreign+" anywhere, or a block that the interface does not know.
	ModelForeign ModelScenario = "foreign"
	// ModelCallIDs: the text "Fine.". The provider refuses with status 400 a request with a call id or a tool name that is
	// not of the form that the interface documents, with two calls of the same id, with a call without a result, or with
	// a result without a call.
	ModelCallIDs ModelScenario = "call-ids"
)

// The scenarios of requests that the provider refuses.
const (
	// ModelRateLimited: status 429, with a request to retry after 7 seconds.
	ModelRateLimited ModelScenario = "rate-limited"
	// ModelRateLimitedDate: status 429. A Retry-After header has the date in 30 seconds.
	ModelRateLimitedDate ModelScenario = "rate-limited-date"
	// ModelRateLimitedBare: status 429, without a word about when to retry.
	ModelRateLimitedBare ModelScenario = "rate-limited-bare"
	// ModelUnavailable: status 503.
	ModelUnavailable ModelScenario = "unavailable"
	// ModelUnauthorized: status 401, with a message that repeats the key and is longer
	// than 10,000 bytes.
	ModelUnauthorized ModelScenario = "unauthorized"
	// ModelContextOverflow: the provider's error for a prompt that does not fit into the model's window.
	ModelContextOverflow ModelScenario = "context-overflow"
)

// The scenarios of answers that begin, and do not finish.
const (
	// ModelStreamError: the text "Half", then an error of the provider inside the stream.
	ModelStreamError ModelScenario = "stream-error"
	// ModelCut: the text "Half", then the connection breaks.
	ModelCut ModelScenario = "cut"
	// ModelNoFinish: the text "Half", then the stream ends cleanly, without a reason.
	ModelNoFinish ModelScenario = "no-finish"
	// ModelBrokenJSON: the text "Half", then an event of a known type whose data is {"oops and nothing more.
	// Then the rest of a proper answer.
	ModelBrokenJSON ModelScenario = "broken-json"
	// ModelWrongShape: the text "Half", then an event whose data is JSON of another shape, such as a number
	// where the interface has a list. Then the rest of a proper answer. The error may be permanent.
	ModelWrongShape ModelScenario = "wrong-shape"
	// ModelHang: the text "Half", then nothing until the caller goes away.
	ModelHang ModelScenario = "hang"
	// ModelHangAtOnce: not even headers until the caller goes away.
	ModelHangAtOnce ModelScenario = "hang-at-once"
	// ModelIdle: like ModelHang, for a model that gives up within a fraction of a second if an answer
	// is silent.
	ModelIdle ModelScenario = "idle"
	// ModelHugeEvent: the text "Half", then one line that does not end. The provider writes until the caller
	// goes away. After 256 MiB it ends the answer.
	ModelHugeEvent ModelScenario = "huge-event"
	// ModelEndlessArguments: a call of weather whose arguments do not end, in events of at most 256 KiB. The
	// provider writes until the caller goes away. After 256 MiB it ends the answer.
	ModelEndlessArguments ModelScenario = "endless-arguments"
)
