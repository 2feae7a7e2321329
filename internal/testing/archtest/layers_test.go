package archtest_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/archtest"
)

// root is the top of the repository. The tests read it file by file rather than ask the
// go command, so that the test cache sees what they read and a cached pass is not stale.
const root = "../../.."

const (
	module     = "github.com/spoolhq/spool"
	restModule = module + "/rest"
)

// layers is the house: narrow rows go first, and a package without a row fails the test.
// A new package, or a new dependency, is a decision that is made here.
var layers = []archtest.Row{
	{Place: "."}, // the words of an author of agents: the standard library and nothing else
	{Place: "wire", Ours: []string{"."}},
	{Place: "wire/fold", Ours: []string{".", "wire"}},
	{Place: "store", Ours: []string{".", "wire"}},

	{Place: "internal/archive", Ours: []string{".", "store"}},
	{Place: "internal/argschema", Ours: []string{"."}, Outside: []string{"github.com/google/jsonschema-go"}},
	{Place: "internal/callid", Ours: []string{"."}},
	{Place: "internal/chanlock"},
	{Place: "internal/citation", Ours: []string{"."}},
	{Place: "internal/compare", Ours: []string{".", "store", "wire"}},
	{Place: "internal/cron", Ours: []string{"."}},
	{Place: "egress", Ours: []string{"."}},
	{Place: "internal/excerpt", Ours: []string{".", "wire"}},
	{Place: "internal/filepart", Ours: []string{"."}},
	{Place: "internal/finishword"},
	{Place: "internal/forwarded"},
	{Place: "internal/inprocess", Ours: []string{".", "store", "wire"}},
	{Place: "internal/knownmodel"},
	{Place: "internal/lenient"},
	{Place: "internal/modelhttp"},
	{Place: "internal/openaiwire", Ours: []string{".", "internal/modelhttp", "internal/surrogate"}},
	{Place: "internal/plainjson"},
	{Place: "internal/post", Ours: []string{"."}},
	{Place: "internal/sse"},
	{Place: "internal/strictjson", Ours: []string{"."}},
	{Place: "internal/surrogate", Ours: []string{".", "internal/plainjson"}},
	{Place: "internal/tokenguess"},
	{Place: "internal/toolname"},

	{Place: "record", Ours: []string{".", "store", "wire", "internal/excerpt"}},

	{Place: "engine/internal/delta", Ours: []string{".", "store", "wire", "engine/internal/notify"}},
	{Place: "engine/internal/notify", Ours: []string{
		".", "store", "wire", "engine/internal/endpoint", "engine/internal/random",
	}},
	{Place: "engine/option", Ours: []string{".", "wire", "egress", "internal/filepart", "webhook"}},
	{Place: "engine/internal/right", Ours: []string{".", "store", "wire", "engine/option"}},
	{Place: "engine/internal/endpoint", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/actor", "engine/internal/right",
		"server/verify/webhook", "webhook",
	}},
	{Place: "engine/internal/deliver", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/actor", "engine/internal/endpoint",
		"engine/internal/random", "engine/internal/slots", "engine/internal/worker", "webhook",
	}},
	{
		Place: "engine/internal/record",
		Ours:  []string{".", "store", "wire", "engine/internal/toolresult", "internal/excerpt"},
	},
	{
		Place: "engine/internal/attach",
		Ours:  []string{".", "store", "wire", "engine/option", "engine/internal/toolresult", "egress", "internal/filepart"},
	},
	{
		Place: "engine/internal/history",
		Ours: []string{
			".", "store", "wire", "engine/option", "engine/internal/record", "engine/internal/toolresult", "internal/filepart",
			"internal/tokenguess",
		},
	},
	{Place: "engine/internal/live", Ours: []string{
		".", "store", "wire", "engine/internal/record", "engine/internal/toolresult", "engine/internal/walk",
		"internal/chanlock",
	}},
	{
		Place: "engine/internal/walk",
		Ours:  []string{".", "store", "wire", "engine/internal/record", "engine/internal/snapshot"},
	},
	{Place: "engine/internal/budget", Ours: []string{".", "store", "wire", "internal/strictjson"}},
	{Place: "engine/internal/pricing", Ours: []string{".", "price", "wire"}},
	{Place: "engine/internal/admission", Ours: []string{".", "store", "wire"}},
	{Place: "engine/internal/slots", Ours: []string{".", "store", "wire"}},
	{
		Place: "engine/internal/worker",
		Ours:  []string{".", "store", "wire", "engine/internal/random", "engine/internal/slots"},
	},
	{Place: "engine/internal/catalogue", Ours: []string{".", "engine/internal/toolresult"}},
	{
		Place: "engine/internal/registry",
		Ours: []string{
			".", "store", "wire", "engine/internal/budget", "engine/internal/catalogue", "engine/internal/pricing",
			"engine/internal/toolresult", "internal/argschema", "internal/strictjson",
		},
	},
	{Place: "engine/internal/revision", Ours: []string{".", "store", "wire"}},
	{
		Place: "engine/internal/schedule",
		Ours: []string{
			".", "store", "wire", "engine/option", "engine/internal/actor", "engine/internal/random",
			"engine/internal/right", "internal/cron",
		},
	},
	{Place: "engine/internal/toollist", Ours: []string{".", "store"}},
	{
		Place: "engine/internal/actor",
		Ours:  []string{".", "store", "wire", "engine/internal/record", "engine/internal/thread"},
	},
	{Place: "engine/internal/quota", Ours: []string{".", "store", "wire", "engine/internal/random"}},
	{
		Place: "engine/internal/inspect",
		Ours: []string{
			".", "store", "wire", "engine/internal/quota", "engine/internal/record", "engine/internal/thread",
			"engine/internal/toolresult",
		},
	},
	{Place: "engine/internal/change", Ours: []string{".", "store", "engine/internal/actor", "engine/internal/thread"}},
	// The rooms in which a run is executed: a room imports those below it.
	{Place: "engine/internal/segment", Ours: []string{
		".", "store", "wire", "engine/internal/active", "engine/internal/calls", "engine/internal/loop",
		"engine/internal/publish", "engine/internal/record", "engine/internal/registry", "engine/internal/revision",
		"engine/internal/settle", "engine/internal/slots", "engine/internal/stream", "engine/internal/thread",
		"engine/internal/toollist",
	}},
	{Place: "engine/internal/loop", Ours: []string{
		".", "store", "wire", "engine/internal/active", "engine/internal/artifact", "engine/internal/attach",
		"engine/internal/budget", "engine/internal/calls", "engine/internal/chat", "engine/internal/compact",
		"engine/internal/history", "engine/internal/record", "engine/internal/registry", "engine/internal/thread",
		"engine/internal/toolresult", "internal/chanlock",
	}},
	{Place: "engine/internal/calls", Ours: []string{
		".", "store", "wire", "engine/internal/active", "engine/internal/artifact", "engine/internal/budget",
		"engine/internal/catalogue", "engine/internal/change", "engine/internal/record", "engine/internal/registry",
		"engine/internal/thread", "engine/internal/toolresult", "internal/filepart",
	}},
	{Place: "engine/internal/active/activetest", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/active", "engine/internal/change", "engine/internal/publish",
		"engine/internal/registry", "engine/internal/stream", "engine/internal/thread", "internal/testing/maptx",
		"internal/testing/stage",
	}, Testing: true},
	{Place: "engine/internal/active", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/budget", "engine/internal/change", "engine/internal/order",
		"engine/internal/publish", "engine/internal/record", "engine/internal/registry", "engine/internal/stream",
		"engine/internal/telemetry", "engine/internal/thread",
	}},
	{Place: "engine/internal/chat", Ours: []string{
		".", "store", "wire", "engine/internal/history", "engine/internal/pricing", "engine/internal/quota",
		"engine/internal/random", "engine/internal/record", "engine/internal/stream", "engine/internal/telemetry",
		"engine/internal/thread", "engine/internal/toolresult", "internal/citation",
	}},
	{Place: "engine/internal/compact", Ours: []string{
		".", "store", "wire", "engine/internal/change", "engine/internal/chat", "engine/internal/history",
		"engine/internal/record", "engine/internal/registry", "engine/internal/thread", "engine/internal/toollist",
	}},
	{
		Place: "engine/internal/publish",
		Ours:  []string{".", "store", "wire", "engine/internal/order", "engine/internal/record", "engine/internal/stream"},
	},
	{
		Place: "engine/internal/settle",
		Ours:  []string{".", "store", "wire", "engine/internal/record", "engine/internal/thread"},
	},
	{Place: "engine/internal/later", Ours: []string{".", "store", "wire"}},
	{Place: "engine/internal/intake", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/actor", "engine/internal/admission", "engine/internal/attach",
		"engine/internal/budget", "engine/internal/change", "engine/internal/delta", "engine/internal/later",
		"engine/internal/notify", "engine/internal/record",
		"engine/internal/registry", "engine/internal/right", "engine/internal/telemetry", "engine/internal/thread",
		"engine/internal/toolresult", "internal/argschema",
	}},
	{Place: "engine/internal/retention", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/actor", "engine/internal/change", "engine/internal/later",
		"engine/internal/record", "engine/internal/stream", "engine/internal/thread", "engine/internal/toolresult",
	}},
	{Place: "engine/internal/artifact", Ours: []string{".", "store"}},
	{Place: "engine/internal/order", Ours: []string{".", "wire"}},
	{Place: "engine/internal/random", Ours: []string{"."}},
	{Place: "engine/internal/toolresult", Ours: []string{".", "store", "wire", "internal/citation"}},
	{
		Place: "engine/internal/stream",
		Ours:  []string{".", "store", "wire", "engine/internal/order", "engine/internal/record", "internal/chanlock"},
	},
	{Place: "engine/internal/thread", Ours: []string{
		".", "store", "wire", "engine/option", "engine/internal/budget", "engine/internal/order", "engine/internal/random",
		"engine/internal/record", "engine/internal/toolresult",
	}},
	{
		Place: "engine/internal/telemetry", Ours: []string{".", "store", "wire", "engine/internal/history"},
		Outside: []string{
			"go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/metric",
			"go.opentelemetry.io/otel/trace",
		},
		OutsideInTests: []string{"go.opentelemetry.io/otel"},
	},
	{
		Place: "engine/internal/snapshot",
		Ours:  []string{".", "store", "wire", "engine/internal/record", "internal/excerpt", "record"},
	},
	{
		Place: "engine", Ours: []string{
			".", "price", "wire", "store", "artifact", "artifact/rows", "engine/...", "internal/...", "record",
		},
		Outside:        []string{"golang.org/x/sync", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/trace"},
		OutsideInTests: []string{"go.opentelemetry.io/otel"},
	},
	{
		Place:          "engine/...",
		Ours:           []string{".", "engine/...", "internal/...", "record"},
		Outside:        []string{"golang.org/x/sync", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/trace"},
		OutsideInTests: []string{"go.opentelemetry.io/otel"},
	},
	{
		Place: "spooltest/...",
		Ours:  []string{".", "store", "wire", "internal/compare", "internal/inprocess", "spooltest/..."}, Testing: true,
	},

	{Place: "relay", Ours: []string{".", "egress", "store", "wire", "engine", "internal/...", "server/verify/webhook"}},
	{
		Place: "webhook",
		Ours:  []string{".", "egress", "wire", "internal/post", "server/verify", "server/verify/webhook"},
	},

	{Place: "artifact", Ours: []string{".", "store"}},
	{Place: "artifact/internal/blob", Ours: []string{"."}},
	{Place: "artifact/dir", Ours: []string{".", "store", "artifact/internal/blob"}},
	{Place: "artifact/rows", Ours: []string{".", "store", "artifact/internal/blob"}},
	{
		Place:   "artifact/s3",
		Ours:    []string{".", "store", "artifact/internal/blob"},
		Outside: []string{"github.com/minio/minio-go/v7"},
	},
	{Place: "backend/internal/...", Ours: []string{".", "store", "wire", "backend/internal/...", "internal/..."}},
	{Place: "backend/memory", Ours: []string{".", "store", "wire", "internal/inprocess", "backend/internal/..."}},
	{
		Place:   "backend/postgres/...",
		Ours:    []string{".", "store", "wire", "internal/...", "backend/internal/...", "backend/postgres/..."},
		Outside: []string{"github.com/jackc/pgx/v5"},
	},
	{
		Place:          "backend/nats",
		Ours:           []string{".", "store", "wire", "internal/inprocess"},
		Outside:        []string{"github.com/nats-io/nats.go"},
		OutsideInTests: []string{"github.com/nats-io/nats-server/v2"},
	},
	{
		Place:   "backend/sqlite/...",
		Ours:    []string{".", "store", "wire", "internal/...", "backend/internal/...", "backend/sqlite/..."},
		Outside: []string{"modernc.org/sqlite", "modernc.org/libc", "golang.org/x/sys"},
	},

	{
		Place: "model/anthropic/cloud", Ours: []string{".", "internal/modelhttp", "model/anthropic"},
		Outside: []string{"github.com/anthropics/anthropic-sdk-go", "github.com/aws/aws-sdk-go-v2", "golang.org/x/oauth2"},
	},
	{Place: "model/anthropic", Ours: []string{".", "internal/..."}},
	{Place: "model/demo", Ours: []string{".", "internal/..."}},
	{Place: "model/gemini", Ours: []string{".", "internal/..."}},
	{Place: "model/openai", Ours: []string{".", "internal/..."}},
	{Place: "model/responses", Ours: []string{".", "internal/..."}},
	{Place: "price", Ours: []string{".", "internal/knownmodel"}},
	{Place: "price/internal/update", Ours: []string{"internal/knownmodel", "price"}},
	{Place: "tool/internal/lease", Ours: []string{"."}},
	{
		Place:   "tool/internal/endpoint",
		Ours:    []string{".", "egress", "internal/filepart", "server/verify/webhook", "tool/internal/lease"},
		Outside: []string{"golang.org/x/text"},
	},
	{Place: "tool/internal/argument", Ours: []string{".", "internal/argschema"}},
	{
		Place:   "tool/openapi",
		Ours:    []string{".", "egress", "internal/...", "tool/..."},
		Outside: []string{"go.yaml.in/yaml/v4"},
	},
	{Place: "tool/internal/vault", Ours: []string{"."}},
	{Place: "tool/internal/signin", Ours: []string{".", "store", "tool/internal/oauth", "tool/internal/vault"}},
	{
		Place:   "tool/internal/oauth",
		Ours:    []string{"."},
		Outside: []string{"github.com/modelcontextprotocol/go-sdk", "golang.org/x/oauth2"},
	},
	{
		Place: "tool/mcp",
		Ours: []string{
			".", "store", "internal/argschema", "egress", "internal/sse", "tool/internal/lease", "tool/internal/oauth",
			"tool/internal/signin", "tool/internal/vault",
		},
		Outside: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	{
		Place:   "tool/...",
		Ours:    []string{".", "egress", "internal/...", "tool/..."},
		Outside: []string{"github.com/google/jsonschema-go"},
	},

	{
		Place: "rest/crud/crudtest", Ours: []string{"rest/..."}, Outside: []string{"github.com/google/go-cmp"},
		TestsToo: true, Testing: true,
	},
	{
		Place: "rest/query/querytest", Ours: []string{"rest/..."}, Outside: []string{"github.com/google/go-cmp"},
		TestsToo: true, Testing: true,
	},
	{
		Place: "rest/throttle/throttletest", Ours: []string{"rest/..."}, Outside: []string{"github.com/google/go-cmp"},
		TestsToo: true, Testing: true,
	},
	{Place: "rest/bunquery/...", Ours: []string{"rest/..."}, Outside: []string{"github.com/uptrace/bun"}, TestsToo: true},
	{Place: "rest/gormquery/...", Ours: []string{"rest/..."}, Outside: []string{"gorm.io/gorm"}, TestsToo: true},
	{
		Place: "rest/auth/jwt", Ours: []string{"rest/..."}, Outside: []string{"github.com/golang-jwt/jwt/v5"}, TestsToo: true,
	},
	{
		Place: "rest/auth/oidc", Ours: []string{"rest/..."}, Outside: []string{"github.com/coreos/go-oidc/v3"},
		TestsToo: true,
	},
	{
		Place: "rest/throttle/redis", Ours: []string{"rest/..."}, Outside: []string{"github.com/redis/go-redis/v9"},
		TestsToo: true,
	},
	{
		Place: "rest", Ours: []string{"rest/..."},
		Outside: []string{"github.com/danielgtaylor/huma/v2", "github.com/samber/do/v2"}, TestsToo: true,
	},
	{Place: "rest/...", Ours: []string{"rest/..."}, Outside: []string{"github.com/danielgtaylor/huma/v2"}, TestsToo: true},
	{
		Place:   "server/verify/google",
		Ours:    []string{".", "server/verify/..."},
		Outside: []string{"github.com/golang-jwt/jwt/v5"},
	},
	{
		Place:   "server/verify/qstash",
		Ours:    []string{".", "server/verify/..."},
		Outside: []string{"github.com/golang-jwt/jwt/v5"},
	},
	{Place: "server/verify/...", Ours: []string{".", "server/verify/..."}},
	{Place: "server/access", Ours: []string{"."}},
	{Place: "server/projection", Ours: []string{".", "wire/fold", "wire", "engine"}},
	{Place: "server/agui", Ours: []string{".", "wire", "engine", "internal/...", "server/projection"}},
	{
		Place: "server/aisdk", Ours: []string{".", "wire/fold", "wire", "engine", "internal/strictjson", "server/projection"},
	},
	{
		Place: "server/aisdkapi",
		Ours: []string{
			".", "wire", "engine", "rest/...", "server/access", "server/aisdk", "server/projection", "server/runs",
			"server/stream", "server/internal/call",
		},
	},
	{
		Place: "server/aguiapi",
		Ours: []string{
			".", "wire", "engine", "rest/...", "server/access", "server/agui", "server/runs", "server/stream",
			"server/internal/call", "server/internal/bodies",
		},
	},
	{
		Place: "server/admin",
		Ours:  []string{".", "wire", "engine", "rest/...", "server/access", "server/internal/call", "server/internal/bodies"},
	},
	{
		Place: "server/inbox",
		Ours: []string{
			".", "wire", "engine", "internal/strictjson", "rest/...", "server/access", "server/internal/auth",
			"server/internal/call", "server/internal/page",
		},
	},
	{Place: "server/probe", Ours: []string{".", "rest/..."}},
	{Place: "server/queue", Ours: []string{".", "wire", "engine", "rest/...", "server/internal/call", "server/verify"}},
	{
		Place: "server/runs",
		Ours: []string{
			".", "wire", "engine", "rest/...", "server/access", "server/stream", "server/internal/auth", "server/internal/call",
		},
	},
	{
		Place: "server/schedules",
		Ours: []string{
			".", "wire", "engine", "rest/...", "server/access", "server/internal/auth", "server/internal/call",
		},
	},
	{
		Place: "server/webhooks",
		Ours: []string{
			".", "wire", "engine", "rest/...", "server/access", "server/internal/auth", "server/internal/call",
		},
	},
	{
		Place: "server/signin",
		Ours: []string{
			".", "rest/...", "server/access", "server/internal/auth", "server/internal/call", "server/internal/page",
		},
	},
	{
		Place: "server/stream",
		Ours: []string{
			".", "wire", "engine", "rest/...", "server/access", "server/agui", "server/aisdk", "server/internal/auth",
			"server/internal/call", "server/internal/bodies",
		},
	},
	{
		Place: "server/threads",
		Ours: []string{
			".", "wire", "engine", "record", "rest/...", "server/access", "server/stream", "server/internal/auth",
			"server/internal/call", "server/internal/bodies",
		},
	},
	{Place: "server/internal/browser", Ours: []string{".", "internal/...", "server/internal/call"}},
	{
		Place: "server/internal/frontpage",
		Ours:  []string{"rest/...", "server/probe", "server/internal/auth", "server/internal/page"},
	},
	{Place: "server/internal/page"},
	{Place: "server/internal/bodies", Ours: []string{".", "wire", "engine", "rest/...", "server/agui", "server/aisdk"}},
	{
		Place: "server/internal/auth",
		Ours:  []string{".", "wire", "engine", "engine/option", "rest/...", "server/access", "server/internal/call"},
	},
	{
		Place: "server/internal/...",
		Ours:  []string{".", "wire", "engine", "rest/...", "internal/...", "server/access", "server/internal/call"},
	},
	{
		Place: "server/...",
		Ours:  []string{".", "wire", "engine", "engine/option", "rest/...", "internal/...", "server/..."},
	},
	{Place: "client/view", Ours: []string{".", "wire/fold", "wire"}},
	{Place: "client", Ours: []string{".", "wire", "client/view", "internal/sse"}},
	{Place: "console"},

	{Place: "examples/mcpserver", Outside: []string{"github.com/modelcontextprotocol/go-sdk"}},
	{Place: "examples/...", Ours: []string{"./..."}},
	{Place: "cmd/...", Ours: []string{"./..."}, Outside: []string{archtest.Any}},
	{Place: "spec", OutsideInTests: []string{"github.com/google/jsonschema-go"}}, // fixtures, and the tests that read them

	// Nobody imports these but tests. Where they are modules of their own, they are not
	// looked at.
	// ends what a page leaves running; bodies on pages
	{
		Place:          "test/docs",
		Ours:           []string{"./..."},
		Outside:        []string{"golang.org/x/sys"},
		OutsideInTests: []string{"github.com/google/jsonschema-go"},
	},
	{Place: "test/...", Ours: []string{"./..."}, Testing: true},
	{
		Place:   "bench/...",
		Ours:    []string{"./..."},
		Outside: []string{"modernc.org/sqlite", "github.com/jackc/pgx/v5", "github.com/riverqueue/river"},
	},

	// Only tests import these, and the programs under test/.
	{
		Place: "internal/testing/...", Ours: []string{
			".", "wire", "price", "store", "engine", "engine/option", "record", "spooltest", "webhook", "internal/...",
		},
		Outside: []string{"github.com/google/go-cmp", "github.com/jackc/pgx/v5"}, Testing: true,
	},
}

// leaves are modules of their own, so that nobody who imports the root module or rest resolves what
// they import. They follow the rules of the house.
var leaves = []string{
	"backend/nats", "model/anthropic/cloud", "rest/auth/oidc", "rest/bunquery", "rest/gormquery", "rest/throttle/redis",
}

// modules are those with packages in the rows, beside the root.
var modules = append([]string{"rest"}, leaves...)

// testOutside is what any test may import beside its row.
var testOutside = []string{"github.com/google/go-cmp"}

func TestImports(t *testing.T) {
	t.Parallel()

	report(t, func() ([]archtest.Problem, error) {
		return archtest.Imports(os.DirFS(root), module, layers, testOutside, modules...)
	})
}

// themselves are packages whose tests start programs that read nothing of the repository: the test binary again, a
// server or browser of the system, or the go command for a setting.
var themselves = []string{
	"backend/sqlite", "cmd/spool/spoolmain", "internal/cron", "internal/testing/inputs", "internal/testing/script",
	"server", "spooltest", "test/services",
}

// A test that starts another program tells the test cache what that program reads.
func TestInputs(t *testing.T) {
	t.Parallel()

	report(t, func() ([]archtest.Problem, error) {
		return archtest.Inputs(os.DirFS(root), module+"/internal/testing/inputs", themselves...)
	})
}

func TestLengths(t *testing.T) {
	t.Parallel()

	report(t, func() ([]archtest.Problem, error) { return archtest.Lengths(os.DirFS(root), modules...) })
}

func TestPackageComments(t *testing.T) {
	t.Parallel()

	report(t, func() ([]archtest.Problem, error) { return archtest.PackageComments(os.DirFS(root), modules...) })
}

// The root requires rest, rest requires neither the root nor a leaf, and its leaves require it alone.
func TestModules(t *testing.T) {
	t.Parallel()

	for _, dir := range append([]string{"."}, modules...) {
		report(t, func() ([]archtest.Problem, error) {
			leaf, ours := slices.Contains(leaves, dir), []string{restModule}
			switch {
			case dir == "rest":
				ours = nil
			case leaf && !strings.HasPrefix(dir, "rest/"):
				ours = append(ours, module)
			}
			return archtest.Module(os.DirFS(root), module, dir, leaf, ours...)
		})
	}
}

func TestDocs(t *testing.T) {
	t.Parallel()

	report(t, func() ([]archtest.Problem, error) { return archtest.Docs(os.DirFS(root)) })
}

func report(t *testing.T, check func() ([]archtest.Problem, error)) {
	t.Helper()

	problems, err := check()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}
