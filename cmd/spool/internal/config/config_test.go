package config_test

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/cron"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

// What errors list: the providers, and the fields of a model.
const (
	providers   = "openai, anthropic, gemini, responses or demo"
	modelFields = "provider, base_url, api_key, model, profile, prompt_cache, temperature, max_output_tokens, reasoning_effort, structured_output, " +
		"max_tokens_field, reasoning_field, reasoning_needed, stream_usage, strict_schemas, parallel_tool_calls, result_images, thinking_tags, " +
		"output_from_total, answer_after_results, receipt_currency, first_byte_timeout, idle_timeout, headers, extra_body, " +
		"thinking, thinking_budget, thinking_display, include_thoughts, reasoning_summary, background, store, item_ids, " +
		"context_window, limits, only_for"
)

// environment is what the tests' files may refer to.
var environment = map[string]string{
	"KEY":    "sk-secret",
	"TOKEN":  "tok-secret-of-all",
	"STEPS":  "7",
	"YES":    "true",
	"EMPTY":  "",
	"WAIT":   "2s",
	"LONG":   "0123456789abcdef0123456789abcdef",
	"SPACED": "tok secret that is long",
	"SIGN":   "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB",
	"SEAL":   "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=",
	"HASH":   "0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
}

func lookup(name string) (string, bool) {
	v, ok := environment[name]
	return v, ok
}

func parse(text string) (*config.Config, error) {
	return config.Parse("spool.yaml", []byte(text), lookup)
}

const whole = `
models:
  local:
    provider: openai
    base_url: http://127.0.0.1:11434/v1
    api_key: ${KEY}
    model: qwen3
    context_window: 128000
    temperature: 0.2
    max_output_tokens: 4096
    reasoning_effort: low
    headers: {x-title: Spool, X-Key: "${KEY}"}
    extra_body: {top_p: 0.9, seed: 12345678901234567890, provider: {order: [a]}}
  show: {provider: demo}
agents:
  writer:
    model: local
    instructions: You are helpful. It costs $5, or $${five}.
    max_steps: ${STEPS}
    final_answer: false
    when_busy: enqueue
    revisions: pin
    fallbacks: [show]
    fallback_on: [down, rate_limit]
    fallback_after: 2
    distinct_approver: true
    transfers: {assistant: {description: Sells., history: brief}}
    tools: [lookup, send, shop, shop_orders]
    provider_options: [reasoning_effort, seed]
    client_tools: 0
    client_context: 4096
    budget: {tokens: 1000, on_exhausted: park}
    subagents:
      clerk: {description: Looks things up., instructions: Be brief., model: show, tools: [lookup], max_steps: 4, spawns: true}
      echo: {}
  assistant: {model: show, only_for: {scopes: ["team:sales"]}}
tools:
  lookup:
    type: http
    url: http://127.0.0.1:9009/tools/lookup
    description: Look something up
    idempotent: ${YES}
    polling: true
    parameters: {type: object, properties: {to: {type: string, default: "${NONE:-you}"}}, additionalProperties: false}
  send:
    type: http
    method: PUT
    url: http://127.0.0.1:9009/tools/send?key=${KEY}
    headers: {authorization: "Bearer ${TOKEN}", Accept: text/plain}
    sign: {secrets: ["${SIGN}"]}
    timeout: 10s
    max_result_bytes: 1000
    retry: {attempts: 3, backoff: 1s, within: 30s}
    only_for: {tenants: [acme], scopes: ["team:sales", approve]}
    approval: true
    body: envelope
    distinct_approver: true
    expiry: {then: extend, ttl: 1h, warn: 10m, extensions: 3}
  shop:
    type: openapi
    document: https://shop.example/openapi.yaml?key=${KEY}
    operations: [listOrders, "POST /orders", "tag:reports"]
    except: [deleteOrder, "tag:internal"]
    unsupported: skip
    base_url: https://shop.example/v1
    caller: true
    approval: true
    auth: {key: {token: "${TOKEN}"}, basic: {username: me, password: "${LONG}"}}
    override: {listOrders: {name: orders, description: Lists., approval: false, idempotent: "${YES}", polling: true}, createOrder: {}}
    headers: {X-Key: "${KEY}"}
auth:
  tokens: [{token: "${TOKEN}", subject: me, scopes: [read, write]}, {token_sha256: "${HASH}", tenant: other, scopes: [stop, admin], operator: true, threads: all, expires: 2027-01-31T00:00:00Z}]
  threads: own
  trusted_proxies: [10.0.0.0/8, "::1"]
  stream_token_keys: ["${LONG}"]
  stream_token_ttl: 5m
  link_approvers: [ann, "*@example.com"]
egress: {allow: [127.0.0.1, 10.1.2.3/8, "::1", tools.internal]}
server: {base_path: /v1/, public_url: "https://agents.example/", provider_options: strict}
cors: {origins: ["http://localhost:5173"], allow_credentials: true, allow_headers: [X-Tenant], expose_headers: [X-Request-ID]}
queue:
  verify:
    webhook: {secrets: ["${KEY}", whsec_old], tolerance: 1m}
    qstash: {url: "https://agents.example.com/api/queue/agent-run", current_key: "${KEY}", next_key: "${EMPTY}"}
    google: {audience: agents, service_accounts: [tasks@example.com]}
    secret: {secrets: ["${TOKEN}"], header: X-Queue}
  push: {url: "https://queue.example.com/in", secrets: ["${KEY}"], headers: {Authorization: "Bearer ${TOKEN}", Upstash-Retries: "3"}, concurrency: 4}
limits: {max_prompt_bytes: 262144, body_memory: 100000000, snapshot_memory: 50000000, max_answer_bytes: 1048576, max_step_bytes: 2097152, max_file_bytes: 0, max_thread_file_bytes: 9000000, max_thread_files: 30, max_waiting: 5, max_queue_depth: 9, max_queue_depth_per_tenant: 4, bytes_per_tenant: 1000000000, concurrency: 12, running_per_tenant: 6, wall_time: 90m, open_streams: 8, max_wait: 45s, disconnect_grace: 0s, starts_per_minute: 7, events_per_minute: 3, failed_logins: 6, run_max_attempts: 3, stop_poll: 500ms, hitl_ttl: 48h, client_tool_ttl: 5m, stream_grace: 10m, lease: 30s, retention: 720h, audit_retention: 0s, retry_backoff: "${WAIT}", retry_after_max: 20m, stream_flush: 50ms}
context: {ceiling: 100000, output_reserve: 8000, compaction_model: show}
budget: {cost_micros: 500000, currency: USD, tool_calls: 50, wall_time: 10m, on_exhausted: end, unpriced: allow, most: {tokens: 9000}}
prices: {qwen3: {input: 0.1, output: 0.25, cache_write_hour: 0.2, long: {above: 1000, input: 1, cache_read: 0, output: 2}}, show: {input: 0, output: 0}}
artifacts: {type: s3, endpoint: "https://s3.example.com", bucket: files, prefix: spool/, region: eu, access_key: "${KEY}", secret_key: "${TOKEN}", path_style: true, insecure: true, quota: 5000, max_bytes: 900}
mcp: {books: {url: "https://books.example", resources: true, allow: [find], auth: {type: authorization_code, issuer: "https://id.example", scopes: [read]}}}
sign_in: {keys: ["${SEAL}"], url: "https://agents.example/in/"}
webhooks:
  endpoints:
    - name: billing
      tenant: acme
      url: https://hooks.example.com/in?key=${KEY}
      secrets: ["${SIGN}"]
      events: [run.waiting, run.failed]
      agents: [writer]
      labels: {team: billing}
      form: template
      template: '{"text": {{json .type}}}'
      content_type: application/json
      text: true
      approver: ann
    - {name: chat, url: "https://chat.example.com/${KEY}", secrets: ["${SIGN}", "${SIGN}"], form: template,
       template_file: chat.tmpl}
  hosts: [{host: hooks.example.com, tenant: acme, secrets: ["${SIGN}"]}]
  private: [10.0.0.0/8]
  max_endpoints: 5
  keep: 240h
schedules:
  entries:
    - {name: nightly, tenant: acme, cron: "0 3 * * *", zone: Europe/Berlin, agent: writer, model: show, prompt: Write the report., thread: reports, title: Reports, labels: {team: billing}, budget: {tokens: 1000, cost_micros: 7, tool_calls: 5, wall_time: 10m}, state: {key: "${KEY}"}, overlap: enqueue, missed: all, jitter: 30s, grace: 5m, subject: ann, scopes: [read, stop, "team:sales"]}
    - {name: nightly, every: 15m, from: 2027-01-31T00:00:00Z, prompt: Look.}
    - {name: once, at: 2027-01-31T00:00:00Z, prompt: Now.}
  max: 9
  max_runs: 3
  max_scopes: [read]
  max_age: 2160h
`

func TestParse(t *testing.T) {
	t.Parallel()

	yes, no := true, false

	got, err := parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Config{
		Models: []config.Model{
			{
				Name: "local", Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", APIKey: "sk-secret", Model: "qwen3",
				ContextWindow: 128000, MaxOutputTokens: 4096, Headers: map[string]string{"X-Title": "Spool", "X-Key": "sk-secret"},
				Extra: map[string]any{
					"temperature": 0.2, "reasoning_effort": "low", "top_p": json.Number("0.9"),
					"seed": json.Number("12345678901234567890"), "provider": map[string]any{"order": []any{"a"}},
				},
				Secrets: []string{"sk-secret"},
			},
			{Name: "show", Provider: "demo"},
		},
		Agents: []config.Agent{
			{
				Name: "writer", Model: "local", Instructions: "You are helpful. It costs $5, or ${five}.", MaxSteps: 7,
				NoFinalAnswer: true, WhenBusy: "enqueue", Revisions: "pin", DistinctApprover: true,
				Tools: []string{"lookup", "send", "shop", "shop_orders"}, Budget: spool.Budget{Tokens: 1000},
				OnBudget: spool.BudgetPark, ProviderOptions: []string{"reasoning_effort", "seed"}, ClientTools: -1,
				ClientContext: 4096, Fallbacks: []string{"show"},
				FallbackOn: []spool.FallbackCause{spool.FallbackDown, spool.FallbackLimit}, FallbackAfter: 2,
				Transfers: map[string]spool.Transfer{"assistant": {Description: "Sells.", History: spool.TransferBrief}},
				Subagents: []config.Subagent{
					{
						Name: "clerk", Description: "Looks things up.", Instructions: "Be brief.", Model: "show",
						Tools: []string{"lookup"}, MaxSteps: 4, Spawns: true,
					},
					{Name: "echo"},
				},
			},
			{Name: "assistant", Model: "show", Access: spool.Access{Scopes: []string{"team:sales"}}},
		},
		Tools: []config.Tool{
			{
				Name: "lookup", Type: "http", URL: "http://127.0.0.1:9009/tools/lookup", Description: "Look something up",
				Idempotent: true, Polling: true,
				Parameters: json.RawMessage(`{"additionalProperties":false,"properties":{"to":{"default":"you","type":"string"}},"type":"object"}`),
			},
			{
				Access: spool.Access{Tenants: []spool.Tenant{"acme"}, Scopes: []string{"team:sales", "approve"}},
				Name:   "send", Type: "http", Method: "PUT", URL: "http://127.0.0.1:9009/tools/send?key=sk-secret", Approval: true,
				Body: "envelope", DistinctApprover: true,
				Expiry: spool.Expiry{Then: spool.ExpireExtend, TTL: time.Hour, Warn: 10 * time.Minute, Extensions: 3},
				Requests: config.Requests{
					Headers:        map[string]string{"Authorization": "Bearer tok-secret-of-all", "Accept": "text/plain"},
					SigningSecrets: []string{"whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"}, Timeout: 10 * time.Second,
					MaxResultBytes: 1000, Attempts: 3, Backoff: time.Second, Within: 30 * time.Second,
					Secrets: []string{"tok-secret-of-all", "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB", "sk-secret"},
				},
			},
			{
				Name: "shop", Type: "openapi", Approval: true,
				OpenAPI: &config.OpenAPI{
					Document:   "https://shop.example/openapi.yaml?key=sk-secret",
					Operations: []string{"listOrders", "POST /orders", "tag:reports"}, Except: []string{"deleteOrder", "tag:internal"},
					Unsupported: "skip", BaseURL: "https://shop.example/v1", Prefix: "shop_", Caller: true,
					Auth: map[string]config.Credential{
						"key":   {Token: "tok-secret-of-all"},
						"basic": {Username: "me", Password: "0123456789abcdef0123456789abcdef"},
					},
					Override: map[string]config.Override{
						"listOrders":  {Name: "orders", Description: "Lists.", Approval: &no, Idempotent: &yes, Polling: true},
						"createOrder": {},
					},
				},
				Requests: config.Requests{
					Headers: map[string]string{"X-Key": "sk-secret"},
					Secrets: []string{"sk-secret", "sk-secret", "tok-secret-of-all", "0123456789abcdef0123456789abcdef"},
				},
			},
		},
		MCP: []config.MCP{{
			Name: "books", URL: "https://books.example",
			Auth:      &config.MCPAuth{Type: config.AuthPeople, Issuer: "https://id.example", Scopes: []string{"read"}},
			Resources: true, Allow: []string{"find", "list_resources", "list_resource_templates", "read_resource"},
		}},
		SignIn: config.SignIn{Keys: [][]byte{bytes.Repeat([]byte("A"), 32)}, URL: "https://agents.example/in"},
		Tokens: []config.Token{
			{Token: "tok-secret-of-all", Tenant: "default", Subject: "me", Scopes: []string{"read", "write"}},
			{
				SHA256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", Tenant: "other",
				Scopes: []string{"stop", "admin"}, Operator: true, AllThreads: true,
				Expires: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
			},
		},
		OwnThreads:      true,
		TrustedProxies:  []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		StreamTokenKeys: []string{"0123456789abcdef0123456789abcdef"}, StreamTokenTTL: 5 * time.Minute,
		LinkApprovers: []string{"ann", "*@example.com"},
		Egress:        []string{"127.0.0.1", "10.1.2.3/8", "::1", "tools.internal"},
		BasePath:      "/v1", PublicURL: "https://agents.example", StrictOptions: true,
		CORS: config.CORS{
			Origins: []string{"http://localhost:5173"}, AllowCredentials: true,
			AllowHeaders: []string{"X-Tenant"}, ExposeHeaders: []string{"X-Request-ID"},
		},
		Queue: config.Queue{
			Webhook: &config.Webhook{Secrets: []string{"sk-secret", "whsec_old"}, Tolerance: time.Minute},
			QStash:  &config.QStash{URL: "https://agents.example.com/api/queue/agent-run", CurrentKey: "sk-secret"},
			Google:  &config.Google{Audience: "agents", ServiceAccounts: []string{"tasks@example.com"}},
			Secret:  &config.Secret{Secrets: []string{"tok-secret-of-all"}, Header: "X-Queue"},
			Push: &config.Push{
				URL: "https://queue.example.com/in", Secrets: []string{"sk-secret"}, Concurrency: 4,
				Headers: map[string]string{"Authorization": "Bearer tok-secret-of-all", "Upstash-Retries": "3"},
			},
		},
		Limits: config.Limits{
			Concurrency: 12, RunningPerTenant: 6, MaxTenantDepth: 4, MaxTenantBytes: 1000000000, MaxWallTime: 90 * time.Minute,
			BodyMemory: 100000000, SnapshotMemory: 50000000,
			MaxPromptBytes: 262144, MaxAnswerBytes: 1048576, MaxStepBytes: 2097152, MaxFileBytes: -1,
			MaxThreadFileBytes: 9000000, MaxThreadFiles: 30, MaxWaiting: 5, MaxQueueDepth: 9, OpenStreams: 8,
			MaxWait: 45 * time.Second, DisconnectGrace: -1, StartsPerMinute: 7, EventsPerMinute: 3, FailedLogins: 6,
			RunMaxAttempts: 3, StopPoll: 500 * time.Millisecond, HITLTTL: 48 * time.Hour, ClientToolTTL: 5 * time.Minute,
			StreamGrace: 10 * time.Minute, StreamFlush: 50 * time.Millisecond, Lease: 30 * time.Second,
			Retention: 720 * time.Hour, AuditRetention: -1, RetryBackoff: 2 * time.Second, RetryAfterMax: 20 * time.Minute,
		},
		Context: config.Context{Ceiling: 100000, OutputReserve: 8000, CompactionModel: "show"},
		Budget: config.Budgets{
			Each: spool.Budget{CostMicros: 500_000, Currency: "USD", ToolCalls: 50, WallTime: 10 * time.Minute},
			Most: spool.Budget{Tokens: 9000}, OnBudget: spool.BudgetEnd, AllowUnpriced: true,
		},
		Prices: config.Prices{Models: map[string]price.Rates{
			"qwen3": {
				Input: 100_000, Output: 250_000, CacheWriteHour: new(price.PerMillion(200_000)),
				Long: &price.LongRates{
					Above: 1000, Rates: price.Rates{Input: 1_000_000, CacheRead: new(price.PerMillion(0)), Output: 2_000_000},
				},
			},
			"show": {},
		}},
		Artifacts: config.Artifacts{
			Type: config.ArtifactsS3, Quota: 5000, MaxBytes: 900,
			S3: config.S3{
				Endpoint: "https://s3.example.com", Bucket: "files", Prefix: "spool/", Region: "eu", AccessKey: "sk-secret",
				SecretKey: "tok-secret-of-all", PathStyle: true, Insecure: true,
			},
		},
	}
	want.Webhooks, want.Schedules = wholeWebhooks(), wholeSchedules()
	diff := cmp.Diff(want, got, cmpopts.IgnoreTypes(config.Source{}, cron.Schedule{}),
		cmpopts.IgnoreUnexported(config.Tool{}, config.OpenAPI{}, config.WebhookEndpoint{}),
		cmpopts.EquateComparable(netip.Prefix{}))
	if diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func wholeWebhooks() config.Webhooks {
	const secret = "whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"
	return config.Webhooks{
		Endpoints: []config.WebhookEndpoint{
			{WebhookEndpoint: option.WebhookEndpoint{
				Name: "billing", Tenant: "acme", URL: "https://hooks.example.com/in?key=sk-secret", Secrets: []string{secret},
				Filter: wire.WebhookFilter{
					Events: []wire.WebhookType{"run.waiting", "run.failed"}, Agents: []string{"writer"},
					Labels: map[string]string{"team": "billing"},
				},
				Form: webhook.FormConfig{
					Form: "template", Template: `{"text": {{json .type}}}`, ContentType: "application/json",
					Events: []wire.WebhookType{"run.waiting", "run.failed"},
				},
				Text: true, Approver: "ann",
			}},
			{
				WebhookEndpoint: option.WebhookEndpoint{
					Name: "chat", Tenant: "default", URL: "https://chat.example.com/sk-secret", Secrets: []string{secret, secret},
					Form: webhook.FormConfig{Form: "template"},
				},
				TemplateFile: "chat.tmpl",
			},
		},
		Hosts: []config.WebhookHost{{WebhookHost: option.WebhookHost{
			Host: "hooks.example.com", Tenant: "acme", Secrets: []string{secret},
		}}},
		Private: []string{"10.0.0.0/8"}, MaxEndpoints: 5, Keep: 240 * time.Hour,
	}
}

func wholeSchedules() config.Schedules {
	nightly := option.Schedule{Tenant: "acme", Subject: "ann"}
	nightly.Name, nightly.Cron, nightly.Zone = "nightly", "0 3 * * *", "Europe/Berlin"
	nightly.ScheduleStart = wire.ScheduleStart{
		Agent: "writer", Model: "show", Prompt: "Write the report.", ThreadID: "reports", Title: "Reports",
		Labels: map[string]string{"team": "billing"}, TokenBudget: 1000, CostBudgetMicros: 7, ToolCallBudget: 5,
		WallTimeMs: 600_000,
	}
	nightly.HostState = json.RawMessage(`{"key":"sk-secret"}`)
	nightly.SchedulePolicy = wire.SchedulePolicy{Overlap: "enqueue", Missed: "all", Jitter: "30s", Grace: "5m"}
	nightly.Rights = wire.Rights{Scopes: []string{"read", "stop", "team:sales"}}
	at := time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)
	every, once := option.Schedule{Tenant: "default"}, option.Schedule{Tenant: "default"}
	every.Name, every.Every, every.From, every.Prompt, every.MayNotStop = "nightly", "15m", at, "Look.", true
	once.Name, once.At, once.Prompt, once.MayNotStop = "once", at, "Now.", true
	return config.Schedules{
		Entries: []config.Schedule{{Schedule: nightly}, {Schedule: every}, {Schedule: once}},
		Max:     9, MaxRuns: 3, MaxScopes: []string{"read"}, MaxAge: 2160 * time.Hour,
	}
}

func TestParseNothing(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", "# nothing\n", "---\n", "models:\nagents:\n", "limits: {lease: 10s}\n"} {
		if c, err := parse(text); err != nil || len(c.Models)+len(c.Agents) != 0 {
			t.Errorf("parse(%q) = %+v, %v", text, c, err)
		}
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "spool.yaml")
	if _, err := config.Load(file, lookup); !os.IsNotExist(err) {
		t.Errorf("Load of no file = %v", err)
	}
	if err := os.WriteFile(file, []byte("models: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := config.Load(file, lookup)
	if want := file + ":1: models: must be a mapping"; err == nil || err.Error() != want {
		t.Errorf("Load = %v, want %s", err, want)
	}
}

// A problem at the top of a file's model and agent, so that a case shows only its own.
func FuzzParse(f *testing.F) {
	f.Add(whole)
	for _, c := range problems {
		f.Add(c.text)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = parse(text) // it neither panics nor hangs
	})
}
