package telemetry_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// newer are names of the conventions that release 1.41.0 does not have.
var newer = []string{"gen_ai.execute_tool.duration"}

// The names that are not our own are those of the conventions.
func TestTelemetryNames(t *testing.T) {
	t.Parallel()
	known := append(slices.Clone(newer),
		string(semconv.GenAIOperationNameKey), string(semconv.GenAIProviderNameKey), string(semconv.GenAIAgentNameKey),
		string(semconv.GenAIAgentIDKey), string(semconv.GenAIConversationIDKey), string(semconv.GenAIRequestModelKey),
		string(semconv.GenAIRequestMaxTokensKey), string(semconv.GenAIResponseModelKey),
		string(semconv.GenAIResponseFinishReasonsKey),
		string(semconv.GenAIResponseTimeToFirstChunkKey), string(semconv.GenAIUsageInputTokensKey),
		string(semconv.GenAIUsageOutputTokensKey),
		string(semconv.GenAIUsageCacheReadInputTokensKey), string(semconv.GenAIUsageCacheCreationInputTokensKey),
		string(semconv.GenAIUsageReasoningOutputTokensKey), string(semconv.GenAITokenTypeKey),
		string(semconv.GenAIToolNameKey),
		string(semconv.GenAIToolTypeKey), string(semconv.GenAIToolCallIDKey), string(semconv.ErrorTypeKey),
		string(semconv.GenAISystemInstructionsKey), string(semconv.GenAIInputMessagesKey),
		string(semconv.GenAIOutputMessagesKey),
		string(semconv.GenAIToolCallArgumentsKey), string(semconv.GenAIToolCallResultKey),
		genaiconv.ClientTokenUsage{}.Name(), genaiconv.ClientOperationDuration{}.Name(),
		genaiconv.ClientOperationTimeToFirstChunk{}.Name(),
	)
	text, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, m := range regexp.MustCompile(`"((?:gen_ai|error)\.[a-z_.]+)"`).FindAllStringSubmatch(string(text), -1) {
		ours = append(ours, m[1])
		if !slices.Contains(known, m[1]) {
			t.Errorf("%s is no name of the conventions", m[1])
		}
	}
	if len(ours) != len(known) {
		t.Errorf("%d names were found, not %d", len(ours), len(known))
	}
}
