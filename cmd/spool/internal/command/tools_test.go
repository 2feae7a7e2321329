package command

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shopDocument has three operations, one of which is not supported.
const shopDocument = `openapi: 3.1.0
servers: [{url: "http://127.0.0.1:1"}]
paths:
  /orders:
    get: {operationId: list, security: [{key: []}]}
    post: {operationId: create}
    delete: {operationId: clear, tags: [danger], parameters: [{name: s, in: header, style: form, schema: {}}, {name: host, in: header, schema: {}}]}
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
`

// writeShop writes a configuration with a source of tools, and its document, into a folder.
func writeShop(t *testing.T, tools, source string) string {
	t.Helper()

	dir := t.TempDir()
	text := "models: {m: {provider: demo}}\nagents: {a: {model: m, tools: " + tools +
		", subagents: {s: {tools: [shop_list]}}}}\ntools:\n" +
		"  note: {type: http, url: 'http://127.0.0.1:1/'}\n" +
		"  shop:\n    type: openapi\n    document: shop.yaml\n" + source
	for name, text := range map[string]string{"shop.yaml": shopDocument, "spool.yaml": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "spool.yaml")
}

// TestToolSources shows the tools of a source, and none of its secrets.
func TestToolSources(t *testing.T) {
	t.Parallel()

	const auth = "    auth: {key: {token: key-0815-4711}}\n    headers: {X-Other: key-4711-0815}\n"
	for tools, want := range map[string]int{"[shop]": 2, "[shop_create, note]": 2, "[note, shop]": 3} {
		file := writeShop(t, tools, "    operations: [list, create]\n    override: {create: {approval: true}}\n"+auth)
		got := command(nil, "check", file)
		if got.code != exitOK || !strings.Contains(
			got.stdout, "tools     note, shop_list (GET /orders), shop_create (POST /orders, asks first)\n",
		) {
			t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
		if strings.Contains(got.stdout+got.stderr, "0815") {
			t.Errorf("there is a secret in\n%s%s", got.stdout, got.stderr)
		}
		set, err := loadSetup(options{listen: "127.0.0.1:0", config: file}, os.LookupEnv, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		agent := set.engine.Agents[0]
		if len(agent.Tools) != want || len(agent.Spawn.Profiles["s"].Tools) != 1 {
			t.Errorf("%s: the agent has %d tools", tools, len(agent.Tools))
		}
	}
}

// TestLeftOut lists each operation that is left out, with everything that is wrong with it.
func TestLeftOut(t *testing.T) {
	t.Parallel()

	const left = "left out  shop: clear (DELETE /orders): paths./orders.delete.parameters[0]: the style form is not supported in a header; paths./orders.delete.parameters[1]: the header host cannot be an argument\n" +
		"problems  none\n"
	for source, want := range map[string]string{
		"operations: ['*']\n    unsupported: skip\n":                "tools     note, shop_list (GET /orders), shop_create (POST /orders)\n",
		"operations: [list, 'tag:danger']\n    unsupported: skip\n": "tools     note, shop_list (GET /orders)\n",
		"operations: ['*']\n    except: [clear]\n":                  "tools     note, shop_list (GET /orders), shop_create (POST /orders)\n",
		"operations: ['*']\n    except: ['tag:danger', create]\n":   "tools     note, shop_list (GET /orders)\n",
	} {
		got := command(nil, "check", writeShop(t, "[shop]", "    "+source+"    auth: {key: {token: key-0815-4711}}\n"))
		if got.code != exitOK || !strings.Contains(got.stdout, want) ||
			strings.Contains(got.stdout, left) != strings.Contains(source, "skip") {
			t.Errorf("%s: exit code %d\n%s%s", source, got.code, got.stdout, got.stderr)
		}
	}
}

// TestForeignText has a document that would control the terminal, and turn the direction of its text.
func TestForeignText(t *testing.T) {
	t.Parallel()

	const document = "openapi: 3.1.0\nservers: [{url: 'http://127.0.0.1:1'}]\npaths:\n" +
		"  \"/a\\u202eb\": {get: {operationId: list}}\n  /x: {get: {operationId: \"evil\\e[2J\\nspool: fine\", parameters: [{}]}}\n"
	for source, want := range map[string]string{
		"operations: ['*']\n":                        "operation evil\ufffd[2J\ufffdspool: fine (GET /x): ",
		"operations: ['*']\n    unsupported: skip\n": "left out  shop: evil\ufffd[2J\ufffdspool: fine (GET /x): ",
		"operations: [list]\n":                       "shop_list (GET /a\ufffdb)",
	} {
		file := writeShop(t, "[shop]", "    "+source)
		if err := os.WriteFile(filepath.Join(filepath.Dir(file), "shop.yaml"), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		got := command(nil, "check", file)
		if text := got.stdout + got.stderr; !strings.Contains(text, want) || strings.ContainsAny(text, "\x1b\u202e") {
			t.Errorf("%s: %q, want %q", source, text, want)
		}
	}
}

// TestToolSourceProblems has each problem at the field that can correct it, without secrets.
func TestToolSourceProblems(t *testing.T) {
	t.Parallel()

	const auth = "\n    auth: {key: {token: key-0815-4711}}\n"
	for name, c := range map[string]struct{ tools, source, want string }{
		"Unsupported": {
			"[shop]", "    operations: [clear]" + auth,
			"spool.yaml:8: tools.shop.operations: operation clear (DELETE /orders): paths./orders.delete.parameters[0]: the style form is not supported in a header; paths./orders.delete.parameters[1]: the header host cannot be an argument",
		},
		"SkipNamed": {
			"[shop]", "    operations: ['*', clear]\n    unsupported: skip" + auth,
			"spool.yaml:8: tools.shop.operations: operation clear (DELETE /orders): paths./orders.delete.parameters[0]",
		},
		"NoExcept": {
			"[shop]", "    operations: ['*']\n    except: [no]" + auth,
			`spool.yaml:9: tools.shop.except: the document has no operation "no"`,
		},
		"NoOperation": {
			"[shop]", "    operations: [no]" + auth,
			`spool.yaml:8: tools.shop.operations: the document has no operation "no"; there are list, create, clear`,
		},
		"NoSecret": {
			"[shop]", "    operations: [list]\n",
			"spool.yaml:8: tools.shop.operations: operation list (GET /orders): paths./orders.get.security: asks for key, a token in the header X-Key: set auth.key, or that header",
		},
		"NoScheme": {
			"[shop]", "    operations: [list]\n    auth: {other: {token: key-0815-4711}}\n",
			`spool.yaml:9: tools.shop.auth: the document has no security scheme "other"; there are key`,
		},
		"NoOverride": {
			"[shop]", "    operations: [list]\n    override: {create: {}}" + auth,
			`spool.yaml:9: tools.shop.override: "create" is none of the chosen operations`,
		},
		"NoTool": {
			"[note, shop_clear]", "    operations: [list]" + auth,
			`spool.yaml:2: agents.a.tools[1]: there is no tool "shop_clear"`,
		},
		"Twice": {
			"[shop, shop_list]", "    operations: [list]" + auth,
			`spool.yaml:2: agents.a.tools[1]: the tool "shop_list" is there twice`,
		},
		"SameName": {
			"[shop]", "    operations: [list]\n    prefix: ''\n    override: {list: {name: note}}" + auth,
			"spool.yaml:5: tools.shop: its operation note has the name of another tool",
		},
	} {
		file := writeShop(t, c.tools, c.source)
		got := command(nil, "check", file)
		if got.code != 2 || !strings.Contains(got.stderr, filepath.Dir(file)+string(filepath.Separator)+c.want) {
			t.Errorf("%s: exit code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
		if strings.Contains(got.stdout+got.stderr, "0815") {
			t.Errorf("%s: there is a secret in\n%s%s", name, got.stdout, got.stderr)
		}
	}
	file := writeShop(t, "[shop]", "    operations: [list]"+auth)
	if err := os.Remove(filepath.Join(filepath.Dir(file), "shop.yaml")); err != nil {
		t.Fatal(err)
	}
	if got := command(nil, "check", file); got.code != 2 ||
		!strings.Contains(got.stderr, "spool.yaml:7: tools.shop.document: open ") {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}
