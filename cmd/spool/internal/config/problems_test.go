package config_test

import (
	"maps"
	"strings"
	"testing"
)

const fine = "models: {m: {provider: demo}}\nagents: {a: {model: m}}\n"

type problem struct{ text, want string }

// problems are those of all sections.
var problems = func() map[string]problem {
	all := maps.Clone(sectionProblems)
	maps.Copy(all, triggerProblems)
	return all
}()

// sectionProblems are those of the sections without a table of their own.
var sectionProblems = map[string]problem{
	"Syntax": {
		"models: [",
		"spool.yaml:2: not valid YAML: did not find expected node content; a value with ${...} needs quotes inside { } and [ ]",
	},
	"FlowReference": {
		"auth:\n  tokens: [{token: ${TOKEN}}]",
		"spool.yaml:2: not valid YAML: did not find expected ',' or '}'; a value with ${...} needs quotes inside { } and [ ]",
	},
	"TwoDocuments": {"limits: {}\n---\nlimits: {}\n", "spool.yaml:2: there must be one document only"},
	"NoMapping":    {"- a\n", "spool.yaml:1: must be a mapping"},
	"MCPNeither":   {fine + "mcp: {s: {timeout: 1s}}\n", "spool.yaml:3: mcp.s: needs either url or command"},
	"MCPBoth": {
		fine + "mcp: {s: {url: 'http://a', command: [b]}}\n", "spool.yaml:3: mcp.s: needs either url or command",
	},
	"MCPName": {
		fine + "mcp: {a__b: {url: 'http://a'}}\n",
		"spool.yaml:3: mcp.a__b: the name of an MCP server may only have up to 32 letters, digits, hyphens and single underscores, and may not end in an underscore",
	},
	"MCPApproval": {
		fine + "mcp: {s: {url: 'http://a', approval: often}}\n",
		"spool.yaml:3: mcp.s.approval: must be hinted, always or never",
	},
	"MCPHeaders": {fine + "mcp: {s: {command: [b], headers: {A: b}}}\n", "spool.yaml:3: mcp.s.headers: is for a url"},
	"MCPRevision": {
		fine + "mcp: {s: {url: 'http://a', revision: 2025-01-01}}\n",
		"spool.yaml:3: mcp.s.revision: must be 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26 or 2024-11-05",
	},
	"MCPTasks": {
		fine + "mcp: {s: {url: 'http://a', tasks: often}}\n", "spool.yaml:3: mcp.s.tasks: must be true or false",
	},
	"MCPTasksChild": {
		fine + "mcp: {s: {command: [b], task_timeout: 1h}}\n", "spool.yaml:3: mcp.s.task_timeout: is for a url",
	},
	"MCPAuthChild": {
		fine +
			"mcp: {s: {command: [b], auth: {type: client_credentials, issuer: 'https://a', client_id: b, client_secret: c}}}\n",
		"spool.yaml:3: mcp.s.auth: is for a url",
	},
	"MCPAuthType": {
		fine + "mcp: {s: {url: 'http://a', auth: {type: password, issuer: 'https://a', client_id: b, client_secret: c}}}\n",
		"spool.yaml:3: mcp.s.auth.type: must be client_credentials or authorization_code",
	},
	"MCPAuthIssuer": {
		fine + "mcp: {s: {url: 'http://a', auth: {type: client_credentials, client_id: b, client_secret: c}}}\n",
		"spool.yaml:3: mcp.s.auth.issuer: is required",
	},
	"MCPAuthNoID": {
		fine +
			"mcp: {s: {url: 'http://a', auth: {type: authorization_code, issuer: 'https://a', client_secret: c}}}\nsign_in: {keys: ['${SEAL}']}\n",
		"spool.yaml:3: mcp.s.auth.client_secret: needs a client_id",
	},
	"MCPAuthNoKeys": {
		fine + "mcp: {s: {url: 'http://a', auth: {type: authorization_code, issuer: 'https://a'}}}\n",
		"spool.yaml:3: mcp.s.auth: needs sign_in.keys, which encrypt the tokens of people",
	},
	"SignInKeys": {fine + "sign_in: {url: 'https://a'}\n", "spool.yaml:3: sign_in.keys: is required"},
	"SignInKey": {
		fine + "sign_in:\n  keys: ['${SEAL}',\n    '${KEY}', QUFBQQ==]\n",
		"spool.yaml:5: sign_in.keys[1]: must be base64 of 32 bytes, such as what openssl rand -base64 32 prints\nspool.yaml:5: sign_in.keys[2]: must be base64 of 32 bytes, such as what openssl rand -base64 32 prints",
	},
	"SignInURL": {
		fine + "sign_in: {keys: ['${SEAL}'], url: 'http://agents.example'}\n",
		"spool.yaml:3: sign_in.url: must be an https URL without a query; http is for loopback hosts",
	},
	"SignInQuery": {
		fine + "sign_in: {keys: ['${SEAL}'], url: 'https://agents.example?a=b'}\n",
		"spool.yaml:3: sign_in.url: must be an https URL without a query; http is for loopback hosts",
	},
	"MCPAuthMethod": {
		fine +
			"mcp: {s: {url: 'http://a', auth: {type: client_credentials, issuer: 'https://a', client_id: b, client_secret: c, method: none}}}\n",
		"spool.yaml:3: mcp.s.auth.method: must be basic or post",
	},
	"MCPPrefixes": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, mcp: {s: {}, t: {}}}}\nmcp:\n  s: {url: 'http://a', prefix: shop_}\n  t: {url: 'http://b', prefix: shop_it_}\n",
		`spool.yaml:2: agents.a.mcp.t: tools of the MCP servers "s" and "t" could have the same name: their prefixes are "shop_" and "shop_it_", and neither may begin the other`,
	},
	"UnknownSection": {
		fine + "model: x\n",
		"spool.yaml:3: model: unknown field; there are models, agents, tools, mcp, auth, server, egress, cors, queue, limits, context, budget, prices, artifacts, sign_in, webhooks, schedules",
	},
	"UnknownField": {
		"models:\n  m:\n    provider: demo\n    providr: demo\nagents: {a: {model: m}}",
		"spool.yaml:4: models.m.providr: unknown field; there are " + modelFields,
	},
	"Twice": {
		"models:\n  m: {provider: demo}\n  m: {provider: demo}\nagents: {a: {model: m}}",
		"spool.yaml:3: models.m: is there twice",
	},
	"MergeKey": {
		"models:\n  m: &x {provider: demo}\n  n:\n    <<: *x\n    provider: demo\nagents: {a: {model: m}}",
		"spool.yaml:4: models.n.<<: unknown field; there are " + modelFields,
	},
	"NoProvider": {"models:\n  m: {}\nagents: {a: {model: m}}", "spool.yaml:2: models.m.provider: is required"},
	"EmptyProvider": {
		"models:\n  m: {provider: ''}\nagents: {a: {model: m}}", "spool.yaml:2: models.m.provider: is empty",
	},
	"BadProvider": {
		"models: {m: {provider: opnai}}\nagents: {a: {model: m}}", "spool.yaml:1: models.m.provider: must be " + providers,
	},
	"NoModelName": {
		"models: {m: {provider: openai}}\nagents: {a: {model: m}}", "spool.yaml:1: models.m.model: is required",
	},
	"BadBaseURL": {
		"models: {m: {provider: openai, model: x, base_url: 'localhost:1'}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.base_url: must be an http or https URL",
	},
	"AnthropicCache": {
		"models: {m: {provider: anthropic, model: x, prompt_cache: key}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.prompt_cache: key is only for the provider openai; there are 5m, 1h and none",
	},
	"AnthropicEffort": {
		"models: {m: {provider: anthropic, model: x, reasoning_effort: low}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.reasoning_effort: the anthropic provider has no use for it",
	},
	"AnthropicModel": {
		"models: {m: {provider: anthropic}}\nagents: {a: {model: m}}", "spool.yaml:1: models.m.model: is required",
	},
	"NoBudget": {
		"models: {m: {provider: anthropic, model: x, thinking: budget}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking_budget: is required: thinking is budget",
	},
	"SmallBudget": {
		"models: {m: {provider: anthropic, model: x, thinking: budget, thinking_budget: 1000}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking_budget: must be 1024 or more",
	},
	"LargeBudget": {
		"models: {m: {provider: anthropic, model: x, thinking: budget, thinking_budget: 2000, max_output_tokens: 2000}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.max_output_tokens: is less than thinking_budget and a token for the answer",
	},
	"IdleBudget": {
		"models: {m: {provider: anthropic, model: x, thinking: off, thinking_budget: 2000}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking_budget: is only for thinking: budget",
	},
	"IdleDisplay": {
		"models: {m: {provider: anthropic, model: x, thinking_display: omitted}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking_display: is only for thinking: adaptive or budget",
	},
	"OwnThinking": {
		"models: {m: {provider: anthropic, model: x, extra_body: {thinking: {type: adaptive}}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.extra_body.thinking: is a field that the engine sets",
	},
	"ResponsesName": {
		"models: {m: {provider: responses}}\nagents: {a: {model: m}}", "spool.yaml:1: models.m.model: is required",
	},
	"ResponsesLong": {
		"models: {m: {provider: responses, model: x, reasoning_summary: long}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.reasoning_summary: must be auto, concise or detailed",
	},
	"ResponsesStore": {
		"models: {m: {provider: responses, model: x, background: true, store: false}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.store: must be true with background: the provider keeps the answers with which it goes on",
	},
	"ResponsesOwn": {
		"models: {m: {provider: responses, model: x, extra_body: {previous_response_id: resp_1}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.extra_body.previous_response_id: is a field that the engine sets",
	},
	"ResponsesCache": {
		"models: {m: {provider: responses, model: x, prompt_cache: key}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.prompt_cache: the responses provider has no use for it",
	},
	"OpenAIThinking": {
		"models: {m: {provider: openai, model: x, thinking: adaptive}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking: the openai provider has no use for it",
	},
	"GeminiModel": {
		"models: {m: {provider: gemini}}\nagents: {a: {model: m}}", "spool.yaml:1: models.m.model: is required",
	},
	"GeminiCache": {
		"models: {m: {provider: gemini, model: x, prompt_cache: key}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.prompt_cache: the gemini provider has no use for it",
	},
	"GeminiLevel": {
		"models: {m: {provider: gemini, model: x, thinking: adaptive}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking: must be minimal, low, medium, high, budget or off",
	},
	"GeminiBudget": {
		"models: {m: {provider: gemini, model: x, thinking: low, thinking_budget: 20}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking_budget: is only for thinking: budget",
	},
	"GeminiNoBudget": {
		"models: {m: {provider: gemini, model: x, thinking: budget}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.thinking_budget: is required: thinking is budget",
	},
	"GeminiOwnField": {
		"models: {m: {provider: gemini, model: x, extra_body: {contents: []}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.extra_body.contents: is a field that the engine sets",
	},
	"GeminiOwnInside": {
		"models: {m: {provider: gemini, model: x, extra_body: {generationConfig: {maxOutputTokens: 1}}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.extra_body: has maxOutputTokens in generationConfig, which the engine sets",
	},
	"GeminiTwice": {
		"models: {m: {provider: gemini, model: x, temperature: 1, extra_body: {generationConfig: {temperature: 1}}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.temperature: is in extra_body too: leave one of them out",
	},
	"GeminiSettings": {
		"models: {m: {provider: gemini, model: x, extra_body: {generationConfig: 1}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.extra_body: has a generationConfig that is not an object",
	},
	"DemoCache": {
		"models: {m: {provider: demo, prompt_cache: key}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.prompt_cache: the demo provider has no use for it",
	},
	"PromptCache": {
		"models: {m: {provider: openai, model: x, prompt_cache: all}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.prompt_cache: must be none, key or marks",
	},
	"CompactionModel": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m}}\ncontext: {compaction_model: n}",
		"spool.yaml:3: context.compaction_model: there is no model \"n\"",
	},
	"SubagentModel": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, subagents: {b: {model: n}}}}",
		"spool.yaml:2: agents.a.subagents.b.model: there is no model \"n\"",
	},
	"SubagentTool": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, subagents: {b: {tools: [x]}}}}",
		"spool.yaml:2: agents.a.subagents.b.tools[0]: there is no tool \"x\"",
	},
	"SubagentName": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, subagents: {b.c: {}}}}",
		"spool.yaml:2: agents.a.subagents.b.c: the name of a subagent may only have up to 64 letters, digits and the characters _ -",
	},
	"BudgetAction":   {fine + "budget: {on_exhausted: stop}", "spool.yaml:3: budget.on_exhausted: must be end or park"},
	"BudgetUnpriced": {fine + "budget: {unpriced: maybe}", "spool.yaml:3: budget.unpriced: must be refuse or allow"},
	"BudgetNegative": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, budget: {tokens: -1}}}",
		"spool.yaml:2: agents.a.budget.tokens: must be 1 or more",
	},
	"BudgetField": {
		fine + "budget: {most: {on_exhausted: end}}",
		"spool.yaml:3: budget.most.on_exhausted: unknown field; there are tokens, cost_micros, currency, tool_calls, wall_time",
	},
	"PriceOutput": {fine + "prices: {m: {input: 1}}", "spool.yaml:3: prices.m.output: is required"},
	"PriceNegative": {
		fine + "prices: {m: {input: -1, output: 1}}", "spool.yaml:3: prices.m.input: must be a number from 0 to 100000",
	},
	"PriceField": {
		fine + "prices: {m: {input: 1, output: 1, cached: 1}}",
		"spool.yaml:3: prices.m.cached: unknown field; there are long, input, cache_read, cache_write, cache_write_hour, output, reasoning",
	},
	"PriceLong": {
		fine + "prices: {m: {input: 1, output: 1, long: {input: 1, output: 1}}}",
		"spool.yaml:3: prices.m.long.above: is required",
	},
	"PriceList": {fine + "prices: [m]", "spool.yaml:3: prices: must be text"},
	"BudgetPrice": {
		fine + "budget: {cost_micros: 1}", "spool.yaml:3: budget.cost_micros: needs prices, as nothing has a cost without",
	},
	"DemoWithKey": {
		"models: {m: {provider: demo, api_key: x}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.api_key: the demo provider has no use for it",
	},
	"ModelID": {
		"models: {a b: {provider: demo}}\nagents: {a: {model: a b}}",
		"spool.yaml:1: models.a b: the name may only have letters, digits and the characters . _ : -\nspool.yaml:2: agents.a.model: must not have spaces",
	},
	"LimitsOfNothing": {
		"models:\n  m:\n    provider: demo\n    limits: {group: x}\nagents: {a: {model: m}}",
		"spool.yaml:4: models.m.limits: needs one of concurrent, rpm and tpm",
	},
	"LimitNegative": {
		"models:\n  m:\n    provider: demo\n    limits: {rpm: -1}\nagents: {a: {model: m}}",
		"spool.yaml:4: models.m.limits.rpm: must be 1 or more",
	},
	"LimitUnknown": {
		"models:\n  m:\n    provider: demo\n    limits: {rpm: 1, rps: 1}\nagents: {a: {model: m}}",
		"spool.yaml:4: models.m.limits.rps: unknown field; there are concurrent, rpm, tpm, group",
	},
	"WindowNegative": {
		"models: {m: {provider: openai, model: x, context_window: -1}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.context_window: must be 1 or more",
	},
	"WindowFraction": {
		"models: {m: {provider: openai, model: x, context_window: 1.5}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.context_window: must be a whole number",
	},
	"WindowQuoted": {
		"models: {m: {provider: openai, model: x, context_window: '15'}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.context_window: must be a whole number",
	},
	"NoAgents": {
		"models: {m: {provider: demo}}", "spool.yaml:1: agents: is required: an agent says which model is used",
	},
	"NoModels": {
		"agents: {a: {model: m}}",
		"spool.yaml:1: agents.a.model: there is no model \"m\"\nspool.yaml:1: models: is required: the agents have no model to use",
	},
	"UnknownModel": {
		"models: {m: {provider: demo}}\nagents:\n  a:\n    max_steps: 2\n    model: n",
		"spool.yaml:5: agents.a.model: there is no model \"n\"",
	},
	"UnknownTool": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, tools: [x]}}",
		"spool.yaml:2: agents.a.tools[0]: there is no tool \"x\"",
	},
	"ToolTwice": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, tools: [x, x]}}\ntools: {x: {type: http, url: 'http://h/'}}",
		"spool.yaml:2: agents.a.tools[1]: the tool \"x\" is there twice",
	},
	"StepsZero": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, max_steps: 0}}",
		"spool.yaml:2: agents.a.max_steps: must be 1 or more",
	},
	"Revisions": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, revisions: always}}",
		"spool.yaml:2: agents.a.revisions: must be follow or pin",
	},
	"FallbackModel": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, fallbacks: [x]}}",
		"spool.yaml:2: agents.a.fallbacks[0]: there is no model \"x\"",
	},
	"FallbackOwn": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, fallbacks: [m]}}",
		"spool.yaml:2: agents.a.fallbacks[0]: the model \"m\" is the agent's own",
	},
	"FallbackTwice": {
		"models: {m: {provider: demo}, n: {provider: demo}}\nagents: {a: {model: m, fallbacks: [n, n]}}",
		"spool.yaml:2: agents.a.fallbacks[1]: the model \"n\" is there twice",
	},
	"FallbackOn": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, fallback_on: [rain]}}",
		"spool.yaml:2: agents.a.fallback_on[0]: must be down, rate_limit or refused",
	},
	"FallbackOnNone": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, fallback_on: []}}",
		"spool.yaml:2: agents.a.fallback_on: is empty: leave it out for all failures",
	},
	"ArtifactsType":   {"artifacts: {type: tape}", "spool.yaml:1: artifacts.type: must be directory, s3 or database"},
	"ArtifactsNoType": {"artifacts: {quota: 5}", "spool.yaml:1: artifacts.type: is required"},
	"ArtifactsPath":   {"artifacts: {type: directory}", "spool.yaml:1: artifacts.path: is required"},
	"ArtifactsForS3":  {"artifacts: {type: database, bucket: x}", "spool.yaml:1: artifacts.bucket: is only for type: s3"},
	"ArtifactsForDir": {
		"artifacts: {type: database, path: x}", "spool.yaml:1: artifacts.path: is only for type: directory",
	},
	"ArtifactsBucket": {
		"artifacts: {type: s3, endpoint: \"https://a.example\"}", "spool.yaml:1: artifacts.bucket: is required",
	},
	"ArtifactsSecret": {
		"artifacts: {type: s3, endpoint: \"https://a.example\", bucket: b, access_key: k}",
		"spool.yaml:1: artifacts.access_key: needs either both access_key and secret_key, or neither",
	},
	"ArtifactsQuota": {"artifacts: {type: database, quota: 0}", "spool.yaml:1: artifacts.quota: must be 1 or more"},
	"TransferAgent": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, transfers: {b: {}}}}",
		"spool.yaml:2: agents.a.transfers.b: there is no agent \"b\"",
	},
	"TransferSelf": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, transfers: {a: {}}}}",
		"spool.yaml:2: agents.a.transfers.a: is the agent itself",
	},
	"TransferHistory": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, transfers: {b: {history: some}}}, b: {model: m}}",
		"spool.yaml:2: agents.a.transfers.b.history: must be all or brief",
	},
	"TransferTool": {
		"models: {m: {provider: demo}}\ntools: {transfer: {type: http, url: \"http://127.0.0.1:9\"}}\nagents: {a: {model: m, tools: [transfer], transfers: {b: {}}}, b: {model: m}}",
		"spool.yaml:3: agents.a.tools: has a tool of the name \"transfer\", which transfers bring",
	},
	"SearchTool": {
		"models: {m: {provider: demo}}\ntools: {searchTools: {type: http, url: \"http://127.0.0.1:9\"}, x: {type: http, url: \"http://127.0.0.1:9\", search: true}}\nagents: {a: {model: m, tools: [searchTools, x]}}",
		"spool.yaml:3: agents.a.tools: has a tool of the name \"searchTools\", which search: true brings",
	},
	"SearchToolMCP": {
		"models: {m: {provider: demo}}\ntools: {describeTools: {type: http, url: \"http://127.0.0.1:9\"}}\nmcp: {x: {url: \"http://127.0.0.1:9\", search: true}}\nagents: {a: {model: m, subagents: {b: {tools: [describeTools], mcp: {x: {}}}}}}",
		"spool.yaml:4: agents.a.subagents.b.tools: has a tool of the name \"describeTools\", which search: true brings",
	},
	"FallbackAfter": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, fallback_after: 0}}",
		"spool.yaml:2: agents.a.fallback_after: must be 1 or more",
	},
	"WhenBusy": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, when_busy: later}}",
		"spool.yaml:2: agents.a.when_busy: must be reject, enqueue, latest, interrupt, rollback or steer",
	},
	"InstructionsInt": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, instructions: 12}}",
		"spool.yaml:2: agents.a.instructions: must be text; put it in quotes",
	},
	"ToolsNoList": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, tools: x}}", "spool.yaml:2: agents.a.tools: must be a list",
	},
	"ToolType": {
		fine + "tools:\n  x:\n    url: http://h/\n    type: grpc", "spool.yaml:6: tools.x.type: must be http or openapi",
	},
	"ToolNoURL": {fine + "tools:\n  x:\n    type: http", "spool.yaml:4: tools.x.url: is required"},
	"ToolName": {
		fine + "tools: {a.b: {type: http, url: 'http://h/'}}",
		"spool.yaml:3: tools.a.b: the name of a tool may only have up to 64 letters, digits and the characters _ -",
	},
	"ToolBool": {
		fine + "tools: {x: {type: http, url: 'http://h/', approval: yes}}",
		"spool.yaml:3: tools.x.approval: must be true or false",
	},
	"ToolBody": {
		fine + "tools: {x: {type: http, url: 'http://h/', body: json}}",
		"spool.yaml:3: tools.x.body: must be arguments or envelope",
	},
	"ToolMethod": {
		fine + "tools: {x: {type: http, url: 'http://h/', method: get}}",
		"spool.yaml:3: tools.x.method: must be GET, POST, PUT, PATCH or DELETE",
	},
	"ToolGetBody": {
		fine + "tools: {x: {type: http, url: 'http://h/', method: GET, body: envelope}}",
		"spool.yaml:3: tools.x.body: is only for methods with a body: POST, PUT and PATCH",
	},
	"ToolHeaders": {
		fine +
			"tools:\n  x:\n    type: http\n    url: http://h/\n    headers:\n      a b: x\n      Spool-Tenant: x\n      webhook-id: x\n      Host: x\n      X-A: x\n      x-a: x\n      X-B: \"a\\nb\"\n      X-C:",
		"spool.yaml:8: tools.x.headers.a b: must be the name of a header\nspool.yaml:9: tools.x.headers.Spool-Tenant: is a header that the engine sets\nspool.yaml:10: tools.x.headers.webhook-id: is a header that the engine sets\nspool.yaml:11: tools.x.headers.Host: is a header that the engine sets\nspool.yaml:13: tools.x.headers.x-a: is there twice\nspool.yaml:14: tools.x.headers.X-B: has a line break or another control character in it\nspool.yaml:15: tools.x.headers.X-C: must be text",
	},
	"ToolSign": {
		fine + "tools: {x: {type: http, url: 'http://h/', sign: {secrets: [whsec_short, '${KEY}']}}}",
		"spool.yaml:3: tools.x.sign.secrets[0]: must be base64 of 24 bytes or more, with or without whsec_\nspool.yaml:3: tools.x.sign.secrets[1]: must be base64 of 24 bytes or more, with or without whsec_",
	},
	"ToolSignNothing": {
		fine + "tools: {x: {type: http, url: 'http://h/', sign: {}}}", "spool.yaml:3: tools.x.sign.secrets: is required",
	},
	"ToolRetry": {
		fine + "tools: {x: {type: http, url: 'http://h/', retry: {attempts: 11}}}",
		"spool.yaml:3: tools.x.retry.attempts: must be 10 or less",
	},
	"ToolRetryOnce": {
		fine + "tools: {x: {type: http, url: 'http://h/', retry: {backoff: 1s}}}",
		"spool.yaml:3: tools.x.retry.attempts: is required",
	},
	"OpenAPINothing": {
		fine + "tools:\n  x:\n    type: openapi",
		"spool.yaml:4: tools.x.document: is required\nspool.yaml:4: tools.x.operations: is required",
	},
	"OpenAPIOther": {
		fine +
			"tools:\n  x:\n    type: openapi\n    document: x.yaml\n    operations: []\n    url: http://h/\n    prefix: a b\n    auth: {k: {}, l: {token: a, username: b}}",
		"spool.yaml:7: tools.x.operations: is empty\nspool.yaml:8: tools.x.url: a tool of the type openapi has no use for it\nspool.yaml:9: tools.x.prefix: may only have letters, digits and the characters _ -\nspool.yaml:10: tools.x.auth.k: names none of token, username\nspool.yaml:10: tools.x.auth.l.token: stands in place of username and password: leave one of them out",
	},
	"OpenAPISkip": {
		fine + "tools: {x: {type: openapi, document: x.yaml, operations: [a], except: [], unsupported: ignore}}",
		"spool.yaml:3: tools.x.except: is empty\nspool.yaml:3: tools.x.unsupported: must be error or skip",
	},
	"HTTPOther": {
		fine + "tools:\n  x:\n    type: http\n    url: http://h/\n    base_url: http://h/",
		"spool.yaml:7: tools.x.base_url: a tool of the type http has no use for it",
	},
	"OpenAPITool": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, tools: [x_a, y_a]}}\ntools: {x: {type: openapi, document: x.yaml, operations: [a]}}",
		"spool.yaml:2: agents.a.tools[1]: there is no tool \"y_a\"",
	},
	"ToolExpiry": {
		fine + "tools: {x: {type: http, url: 'http://h/', expiry: fail}}", "spool.yaml:3: tools.x.expiry: must be a mapping",
	},
	"ExpiryThen": {
		fine + "tools: {x: {type: http, url: 'http://h/', expiry: {then: never}}}",
		"spool.yaml:3: tools.x.expiry.then: must be deny, fail or extend",
	},
	"ExpiryMore": {
		fine + "tools: {x: {type: http, url: 'http://h/', expiry: {then: fail, extensions: 2}}}",
		"spool.yaml:3: tools.x.expiry.extensions: is only for then: extend",
	},
	"DistinctTool": {
		fine + "tools: {x: {type: http, url: 'http://h/', distinct_approver: true}}",
		"spool.yaml:3: tools.x.distinct_approver: needs auth.tokens, as nobody could answer whose subject is not known",
	},
	"DistinctAgent": {
		"models: {m: {provider: demo}}\nagents: {a: {model: m, distinct_approver: true}}",
		"spool.yaml:2: agents.a.distinct_approver: needs auth.tokens, as nobody could answer whose subject is not known",
	},
	"ToolParameters": {
		fine + "tools: {x: {type: http, url: 'http://h/', parameters: [1]}}",
		"spool.yaml:3: tools.x.parameters: must be a mapping",
	},
	"ParametersTwice": {
		fine + "tools: {x: {type: http, url: 'http://h/', parameters: {type: object, type: object}}}",
		"spool.yaml:3: tools.x.parameters.type: is there twice",
	},
	"ParametersCycle": {
		fine + "tools: {x: {type: http, url: 'http://h/', parameters: &p {a: *p}}}",
		"spool.yaml:3: tools.x.parameters: is too large or refers to itself",
	},
	"TokensEmpty":   {"auth: {tokens: []}", "spool.yaml:1: auth.tokens: is empty"},
	"TokensMissing": {"auth: {}", "spool.yaml:1: auth.tokens: is required"},
	"TokensNoList":  {"auth: {tokens: x}", "spool.yaml:1: auth.tokens: must be a list"},
	"TokenMissing":  {"auth: {tokens: [{scopes: [read]}]}", "spool.yaml:1: auth.tokens[0].token: is required"},
	"TokenEmpty": {
		"auth: {tokens: [{token: '${EMPTY}', scopes: [read]}]}", "spool.yaml:1: auth.tokens[0].token: is empty",
	},
	"TokenSpace": {
		"auth: {tokens: [{token: '${SPACED}', scopes: [read]}]}", "spool.yaml:1: auth.tokens[0].token: must not have spaces",
	},
	"TokenTwice": {
		"auth:\n  tokens:\n    - {token: a-token-of-length, scopes: [read]}\n    - {token: a-token-of-length, scopes: [read]}",
		"spool.yaml:4: auth.tokens[1]: the same token is there twice",
	},
	"TokenShort": {
		"auth: {tokens: [{token: fifteen-letters, scopes: [read]}]}",
		"spool.yaml:1: auth.tokens[0].token: is shorter than 16 characters",
	},
	"TokenTwoWays": {
		"auth: {tokens: [{token: a-token-of-length, token_sha256: '${HASH}', scopes: [read]}]}",
		"spool.yaml:1: auth.tokens[0].token_sha256: stands in place of token: leave one of them out",
	},
	"TokenHash": {
		"auth: {tokens: [{token_sha256: abc, scopes: [read]}]}",
		"spool.yaml:1: auth.tokens[0].token_sha256: must be the SHA-256 of the token: 64 hexadecimal digits",
	},
	"TokenTwiceHash": {
		"auth:\n  tokens:\n    - {token: a-token-of-length, scopes: [read]}\n    - {token_sha256: cbd755fe024cc6c54cff113a124fd405dec09bb9185e314679b6b1ec4d0b16a4, scopes: [read]}",
		"spool.yaml:4: auth.tokens[1]: the same token is there twice",
	},
	"TokenExpires": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read], expires: tomorrow}]}",
		`spool.yaml:1: auth.tokens[0].expires: must be a time such as "2027-01-31T00:00:00Z"`,
	},
	"Proxies": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}], trusted_proxies: [nginx]}",
		`spool.yaml:1: auth.trusted_proxies[0]: must be an address such as "127.0.0.1" or a range such as "10.0.0.0/8"`,
	},
	"Threads": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}], threads: mine}",
		"spool.yaml:1: auth.threads: must be own or all",
	},
	"ThreadsNobody": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}, {token: another-of-length, scopes: [admin]}], threads: own}",
		"spool.yaml:1: auth.tokens[0]: needs a subject, whose threads it is to see",
	},
	"OnlyForNobody": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}]}\nmodels: {m: {provider: demo, only_for: {}}}\nagents: {a: {model: m}}",
		"spool.yaml:2: models.m.only_for: needs tenants or scopes",
	},
	"OnlyForScope": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}]}\nmodels: {m: {provider: demo}}\nagents: {a: {model: m, only_for: {scopes: [raed]}}}",
		`spool.yaml:3: agents.a.only_for.scopes[0]: must be a scope of a token, or one of your own such as "team:sales"`,
	},
	"OnlyForUnknown": {
		"models: {m: {provider: demo, only_for: {scopes: [read]}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.only_for: needs auth.tokens, as nobody is asked who they are",
	},
	"TokenNumber": {
		"auth: {tokens: [{token: 12, scopes: [read]}]}", "spool.yaml:1: auth.tokens[0].token: must be text; put it in quotes",
	},
	"TokenTenant": {
		"auth: {tokens: [{token: a-token-of-length, tenant: a b, scopes: [read]}]}",
		"spool.yaml:1: auth.tokens[0].tenant: the tenant may only have letters, digits and the characters . _ : -",
	},
	"TokenScope": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read, delete]}]}",
		"spool.yaml:1: auth.tokens[0].scopes[1]: must be one of read, write, approve, stop, webhooks, schedules, admin",
	},
	"TokenNoScopes": {
		"auth: {tokens: [{token: a-token-of-length}]}", "spool.yaml:1: auth.tokens[0].scopes: is required",
	},
	"TokenKeyShort": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}], stream_token_keys: ['${LONG}', '${KEY}']}",
		"spool.yaml:1: auth.stream_token_keys[1]: is shorter than 32 characters",
	},
	"TokenKeysEmpty": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}], stream_token_keys: []}",
		"spool.yaml:1: auth.stream_token_keys: is empty",
	},
	"TokenTTL": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}], stream_token_ttl: 10ms}",
		"spool.yaml:1: auth.stream_token_ttl: must be 1s or more",
	},
	"OriginCookies": {
		"auth: {tokens: [{token: a-token-of-length, scopes: [read]}]}\ncors: {origins: ['*'], allow_credentials: true}",
		"spool.yaml:2: cors.origins[0]: \"*\" cannot go with allow_credentials, as every web page could use what its reader is logged in to",
	},
	"OriginHeader": {
		"cors: {allow_headers: ['*'], expose_headers: [a b]}",
		"spool.yaml:1: cors.allow_headers[0]: must be the name of a header, such as \"X-Tenant\"\nspool.yaml:1: cors.expose_headers[0]: must be the name of a header, such as \"X-Tenant\"",
	},
	"StrictOptions": {
		"server: {provider_options: warn}", "spool.yaml:1: server.provider_options: must be ignore or strict",
	},
	"PublicURL": {
		"server: {public_url: agents.example}", "spool.yaml:1: server.public_url: must be an http or https URL",
	},
	"PublicURLQuery": {
		"server: {public_url: 'https://agents.example/v1?a=b'}",
		"spool.yaml:1: server.public_url: may only have a scheme, a host and a path, such as \"https://agents.example\"",
	},
	"PublicURLBase": {
		"server: {public_url: 'https://agents.example/v1/', base_path: /v1}",
		"spool.yaml:1: server.public_url: must not end with base_path, which comes after it",
	},
	"BasePath": {
		"server: {base_path: v1}",
		"spool.yaml:1: server.base_path: must be a path such as \"/v1\": it has to begin with a slash: /v1",
	},
	"Temperature": {
		"models: {m: {provider: openai, model: x, temperature: 3}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.temperature: must be a number from 0 to 2",
	},
	"TemperatureText": {
		"models: {m: {provider: openai, model: x, temperature: '0.2'}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.temperature: must be a number from 0 to 2",
	},
	"TemperatureTwo": {
		"models: {m: {provider: openai, model: x, temperature: 1, extra_body: {temperature: 1}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.temperature: is in extra_body too: leave one of them out",
	},
	"OutputZero": {
		"models: {m: {provider: openai, model: x, max_output_tokens: 0}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.max_output_tokens: must be 1 or more",
	},
	"EffortSpaces": {
		"models: {m: {provider: openai, model: x, reasoning_effort: a lot}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.reasoning_effort: must not have spaces",
	},
	"ExtraOwn": {
		"models:\n  m:\n    provider: openai\n    model: x\n    extra_body:\n      top_p: 1\n      stream: false\n      messages: []\n      tools: []\n      max_tokens: 5\nagents: {a: {model: m}}",
		"spool.yaml:7: models.m.extra_body.stream: is a field that the engine sets\nspool.yaml:8: models.m.extra_body.messages: is a field that the engine sets\nspool.yaml:9: models.m.extra_body.tools: is a field that the engine sets\nspool.yaml:10: models.m.extra_body.max_tokens: is a field that the engine sets, by max_output_tokens",
	},
	"ExtraNoMap": {
		"models: {m: {provider: openai, model: x, extra_body: [a]}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.extra_body: must be a mapping",
	},
	"HeaderOwn": {
		"models: {m: {provider: openai, model: x, headers: {content-type: text/plain}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.headers.content-type: is a header that the engine sets",
	},
	"HeaderName": {
		"models: {m: {provider: openai, model: x, headers: {a b: x}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.headers.a b: must be the name of a header",
	},
	"HeaderKey": {
		"models: {m: {provider: openai, model: x, api_key: '${KEY}', headers: {Authorization: x}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.headers.Authorization: stands in place of api_key: leave one of them out",
	},
	"HeaderNull": {
		"models: {m: {provider: openai, model: x, headers: {X-A: }}}\nagents: {a: {model: m}}\nqueue: {verify: {secret: {secrets: [tok-secret-of-all]}}, push: {url: 'https://queue.example.com', secrets: [sk-secret], headers: {X-B: }}}",
		"spool.yaml:1: models.m.headers.X-A: must be text\nspool.yaml:3: queue.push.headers.X-B: must be text",
	},
	"HeaderTwice": {
		"models: {m: {provider: openai, model: x, headers: {X-A: x, x-a: y}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.headers.x-a: is there twice",
	},
	"HeaderBreak": {
		"models: {m: {provider: openai, model: x, headers: {X-A: \"x\\ny\"}}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.headers.X-A: has a line break or another control character in it",
	},
	"DemoWithBody": {
		"models: {m: {provider: demo, temperature: 1}}\nagents: {a: {model: m}}",
		"spool.yaml:1: models.m.temperature: the demo provider has no use for it",
	},
	"Egress": {
		"egress: {allow: ['10.0.0.0/99']}",
		"spool.yaml:1: egress.allow[0]: must be a host, an address such as \"127.0.0.1\" or a range such as \"10.0.0.0/8\"",
	},
	"Origin": {
		"cors: {origins: ['http://a/']}",
		"spool.yaml:1: cors.origins[0]: must have the form \"https://host\" or \"https://host:port\"",
	},
	"OriginAll": {
		"cors:\n  origins:\n    - http://a\n    - '*'",
		"spool.yaml:4: cors.origins[1]: \"*\" needs auth.tokens, as every web page could use the server",
	},
	"QueueEmpty": {"queue: {}", "spool.yaml:1: queue.verify: is required"},
	"QueueUnknown": {
		"queue: {pull: x, verify: {secret: {secrets: [a]}}}",
		"spool.yaml:1: queue.pull: unknown field; there are verify, push",
	},
	"PushAlone": {"queue: {push: {url: 'http://a', secrets: [a]}}", "spool.yaml:1: queue.verify: is required"},
	"PushNothing": {
		"queue: {push: {}, verify: {secret: {secrets: [a]}}}",
		"spool.yaml:1: queue.push.url: is required\nspool.yaml:1: queue.push.secrets: is required",
	},
	"PushURL": {
		"queue: {push: {url: /in, secrets: [a]}, verify: {secret: {secrets: [a]}}}",
		"spool.yaml:1: queue.push.url: must be an http or https URL",
	},
	"WallTime": {
		"limits: {wall_time: soon}", "spool.yaml:1: limits.wall_time: must be 0 for no bound, or a duration such as \"90m\"",
	},
	"PushConcurrency": {
		"queue: {push: {url: 'http://a', secrets: [a], concurrency: 0}, verify: {secret: {secrets: [a]}}}",
		"spool.yaml:1: queue.push.concurrency: must be 1 or more",
	},
	"VerifyEmpty": {"queue: {verify: {}}", "spool.yaml:1: queue.verify: names none of webhook, qstash, google, secret"},
	"VerifyNull": {
		"queue:\n  verify:\n    webhook:\n", "spool.yaml:2: queue.verify: names none of webhook, qstash, google, secret",
	},
	"VerifyUnknown": {
		"queue: {verify: {hmac: {}}}",
		"spool.yaml:1: queue.verify.hmac: unknown field; there are webhook, qstash, google, secret\nspool.yaml:1: queue.verify: names none of webhook, qstash, google, secret",
	},
	"WebhookSecrets": {
		"queue: {verify: {webhook: {tolerance: 1m}}}", "spool.yaml:1: queue.verify.webhook.secrets: is required",
	},
	"WebhookNone": {
		"queue: {verify: {webhook: {secrets: []}}}", "spool.yaml:1: queue.verify.webhook.secrets: is empty",
	},
	"WebhookEmpty": {
		"queue: {verify: {webhook: {secrets: ['${EMPTY}']}}}", "spool.yaml:1: queue.verify.webhook.secrets[0]: is empty",
	},
	"WebhookNoList": {
		"queue: {verify: {webhook: {secrets: '${KEY}'}}}", "spool.yaml:1: queue.verify.webhook.secrets: must be a list",
	},
	"WebhookSpaced": {
		"queue: {verify: {webhook: {secrets: ['${SPACED}']}}}",
		"spool.yaml:1: queue.verify.webhook.secrets[0]: must not have spaces",
	},
	"QStashURL": {
		"queue: {verify: {qstash: {current_key: x}}}", "spool.yaml:1: queue.verify.qstash.url: is required",
	},
	"QStashPath": {
		"queue: {verify: {qstash: {current_key: x, url: /api/queue}}}",
		"spool.yaml:1: queue.verify.qstash.url: must be an http or https URL",
	},
	"GoogleAudience": {
		"queue: {verify: {google: {service_accounts: [a@b]}}}", "spool.yaml:1: queue.verify.google.audience: is required",
	},
	"GoogleAccounts": {
		"queue: {verify: {google: {audience: x}}}", "spool.yaml:1: queue.verify.google.service_accounts: is required",
	},
	"Duration": {
		"limits: {lease: 30}", "spool.yaml:1: limits.lease: must be a duration such as \"500ms\", \"30s\" or \"15m\"",
	},
	"DurationZero": {"limits: {lease: 0s}", "spool.yaml:1: limits.lease: must be more than nothing"},
	"LimitStep": {
		"limits: {max_answer_bytes: 2000, max_step_bytes: 1000}",
		"spool.yaml:1: limits.max_step_bytes: is less than max_answer_bytes",
	},
	"LimitText": {"limits: {max_prompt_bytes: many}", "spool.yaml:1: limits.max_prompt_bytes: must be a whole number"},
	"EnvUnset": {
		"limits:\n  lease: ${NOT_SET}",
		"spool.yaml:2: limits.lease: the environment variable NOT_SET is not set; ${NOT_SET:-} allows that",
	},
	"EnvMalformed": {
		"limits:\n  lease: ${1x}",
		"spool.yaml:2: limits.lease: \"${\" must be followed by the name of a variable and \"}\"; write \"$${\" for the characters themselves",
	},
	"EnvOpen": {
		"limits:\n  lease: ${WAIT",
		"spool.yaml:2: limits.lease: \"${\" must be followed by the name of a variable and \"}\"; write \"$${\" for the characters themselves",
	},
	"AllOfThem": {
		"limits: {lease: x}\nmodels: {m: {provider: nope}}\nagents: {a: {model: b}}\nfoo: 1\n",
		"spool.yaml:1: limits.lease: must be a duration such as \"500ms\", \"30s\" or \"15m\"\n" +
			"spool.yaml:2: models.m.provider: must be " + providers + "\n" +
			"spool.yaml:3: agents.a.model: there is no model \"b\"\n" +
			"spool.yaml:4: foo: unknown field; there are models, agents, tools, mcp, auth, server, egress, cors, queue, limits, context, budget, prices, artifacts, sign_in, webhooks, schedules",
	},
}

func TestProblems(t *testing.T) {
	t.Parallel()

	for name, c := range problems {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := parse(c.text)
			if err == nil {
				t.Fatalf("no problem: %+v", got)
			}
			if err.Error() != c.want {
				t.Errorf("got\n%s\nwant\n%s", err, c.want)
			}
			for _, secret := range environment {
				if len(secret) > 5 && strings.Contains(err.Error(), secret) {
					t.Errorf("the problem has the secret %q", secret)
				}
			}
		})
	}
}
