package telemetry

import "go.opentelemetry.io/otel/attribute"

// scope is the name of the engine's spans and metrics.
const scope = "github.com/spoolhq/spool/engine"

// Names from OpenTelemetry's conventions for generative AI, as of release 1.41.0, the last release that
// has them together with all other conventions. These conventions are still in development. If one of
// their names changes, only this file has to change.
const (
	attrOperation     = attribute.Key("gen_ai.operation.name")
	attrProvider      = attribute.Key("gen_ai.provider.name")
	attrAgentName     = attribute.Key("gen_ai.agent.name")
	attrAgentID       = attribute.Key("gen_ai.agent.id")
	attrConversation  = attribute.Key("gen_ai.conversation.id")
	attrRequestModel  = attribute.Key("gen_ai.request.model")
	attrMaxTokens     = attribute.Key("gen_ai.request.max_tokens")
	attrResponseModel = attribute.Key("gen_ai.response.model")
	attrFinishReasons = attribute.Key("gen_ai.response.finish_reasons")
	attrFirstChunk    = attribute.Key("gen_ai.response.time_to_first_chunk")
	attrInputTokens   = attribute.Key("gen_ai.usage.input_tokens")
	attrOutputTokens  = attribute.Key("gen_ai.usage.output_tokens")
	attrCacheRead     = attribute.Key("gen_ai.usage.cache_read.input_tokens")
	attrCacheWrite    = attribute.Key("gen_ai.usage.cache_creation.input_tokens")
	attrReasoning     = attribute.Key("gen_ai.usage.reasoning.output_tokens")
	attrTokenType     = attribute.Key("gen_ai.token.type")
	attrToolName      = attribute.Key("gen_ai.tool.name")
	attrToolType      = attribute.Key("gen_ai.tool.type")
	attrToolCallID    = attribute.Key("gen_ai.tool.call.id")
	attrErrorType     = attribute.Key("error.type")

	// With [Telemetry.Contents] only.
	attrInstructions = attribute.Key("gen_ai.system_instructions")
	attrInput        = attribute.Key("gen_ai.input.messages")
	attrOutput       = attribute.Key("gen_ai.output.messages")
	attrToolArgs     = attribute.Key("gen_ai.tool.call.arguments")
	attrToolResult   = attribute.Key("gen_ai.tool.call.result")

	operationAgent = "invoke_agent"
	operationChat  = "chat"
	operationTool  = "execute_tool"

	metricTokens     = "gen_ai.client.token.usage" //nolint:gosec // tokens of a model
	metricChat       = "gen_ai.client.operation.duration"
	metricFirstChunk = "gen_ai.client.operation.time_to_first_chunk"
	// metricTool comes from the repository semantic-conventions-genai.
	metricTool = "gen_ai.execute_tool.duration"
)

// Spool's own names. The conventions have no name for these.
const (
	attrTenant        = attribute.Key("spool.tenant") // of spans, never of metrics
	attrRun           = attribute.Key("spool.run.id")
	attrSegment       = attribute.Key("spool.segment")
	attrSegmentStatus = attribute.Key("spool.segment.status")
	attrStep          = attribute.Key("spool.step")
	attrOutcome       = attribute.Key("spool.outcome")
	attrRunState      = attribute.Key("spool.run.state")
	attrStopReason    = attribute.Key("spool.run.stop_reason")
	attrJobState      = attribute.Key("spool.job.state")
	attrCredentials   = attribute.Key("spool.credentials")
	attrJobKind       = attribute.Key("spool.job.kind")
	attrParkState     = attribute.Key("spool.park.state")
	attrUsageKind     = attribute.Key("spool.usage.kind")
	attrCurrency      = attribute.Key("spool.currency")

	// otherAgent replaces agent names that a model has made up.
	otherAgent = "_other"

	metricCost          = "spool.usage.cost"
	metricRunsStarted   = "spool.runs.started"
	metricRunDuration   = "spool.run.duration"
	metricRunsActive    = "spool.runs.active"
	metricParksOpened   = "spool.parks.opened"
	metricParksResolved = "spool.parks.resolved"
	metricQueueJobs     = "spool.queue.jobs"
	metricQueueAge      = "spool.queue.oldest_age"
	metricClaimLatency  = "spool.claim.latency"
	metricStreamsOpen   = "spool.streams.open"
	metricStoreUpdate   = "spool.store.update.duration"
	metricProviderWaits = "spool.provider.waiting"
	metricFallbacks     = "spool.model.fallbacks"
	metricProviderWait  = "spool.provider.wait.duration"
	metricFailedLogins  = "spool.auth.failures"
)

// The boundaries of histograms. For tokens and for model calls, the conventions define them.
var (
	tokenBounds = []float64{
		1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
	}
	callBounds = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	runBounds  = []float64{0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400, 86400}
	waitBounds = []float64{0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800}
	workBounds = []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
)
