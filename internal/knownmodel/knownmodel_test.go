package knownmodel

import "testing"

func TestWindow(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]int{
		"gpt-4o-2024-11-20":           128_000,
		"gpt-4":                       8_192,
		"gpt-4-0613":                  8_192,
		"gpt-4-turbo-2024-04-09":      128_000,
		"gpt-4.1-nano":                1_047_576,
		"gpt-5":                       400_000,
		"gpt-5-chat-latest":           128_000,
		"gpt-5.2":                     400_000,
		"gpt-5.4-2026-03-05":          1_050_000,
		"gpt-5.4-mini":                400_000,
		"gpt-5.5":                     1_050_000,
		"o1-mini":                     128_000,
		"o3-2025-04-16":               200_000,
		"claude-3-5-sonnet-20241022":  200_000,
		"claude-sonnet-4-20250514":    200_000,
		"anthropic/claude-sonnet-4.5": 200_000,
		"claude-opus-4-5":             200_000,
		"claude-opus-4-6":             1_000_000,
		"anthropic/claude-sonnet-4.6": 1_000_000,
		"eu.anthropic.claude-opus-5":  1_000_000,
		"claude-haiku-4-5@20251001":   200_000,
		"models/gemini-2.5-pro":       1_048_576,
		"gemini-2.5-flash-image":      32_768,
		"gemini-3-pro-image-preview":  65_536,
		"gemma-3-1b-it":               32_768,
		"grok-4-0709":                 256_000,
		"grok-4-fast-reasoning":       2_000_000,
		"grok-4.3":                    1_000_000,
		"grok-4.5":                    500_000,
		"deepseek-v4-pro":             1_000_000,
		"mistral-large-2512":          262_144,
		"kimi-k2.5":                   262_144,
		"glm-5.1":                     200_000,
		"openai/gpt-oss-120b":         131_072,
		"qwen3:8b":                    0,
		"my-deployment":               0,
		"":                            0,
	} {
		if got := Window(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"gpt-4o-2024-11-20":                              "gpt-4o",
		"gpt-5.5":                                        "gpt-5.5",
		"openai/gpt-4o-mini":                             "gpt-4o-mini",
		"models/gemini-2.5-pro":                          "gemini-2.5-pro",
		"claude-sonnet-4-5-20250929":                     "claude-sonnet-4-5",
		"claude-sonnet-4-5@20250929":                     "claude-sonnet-4-5",
		"eu.anthropic.claude-sonnet-4-5-20250929-v1:0":   "claude-sonnet-4-5",
		"arn:aws:bedrock:::x/us.anthropic.claude-opus-5": "claude-opus-5",
		"anthropic/claude-sonnet-4.5:thinking":           "claude-sonnet-4-5",
		"deepseek-r1:8b":                                 "deepseek-r1:8b",
		"mistral-large-2512":                             "mistral-large-2512",
		"claude-fable":                                   "claude-fable",
		"":                                               "",
	} {
		if got := Undated(Plain(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestTier(t *testing.T) {
	t.Parallel()

	agent, model := map[string]any{"service_tier": "Flex"}, map[string]any{"serviceTier": "priority"}
	for want, fields := range map[string][]map[string]any{
		"flex":     {agent, model},
		"priority": {nil, model},
		"":         {nil, {"service_tier": 7}},
	} {
		if got := Tier(fields...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
