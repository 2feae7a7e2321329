package catalogue_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/catalogue"
)

func tool(name, description string) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{Name: name, Description: description, Parameters: json.RawMessage(`{"type":"object"}`)},
		Search:   true,
	}
}

// shop is a catalogue of a shop.
func shop() *catalogue.Catalogue {
	return catalogue.Of([]spool.Tool{
		{ToolSpec: spool.ToolSpec{Name: "now"}},
		tool("shop_listOrders", "List the orders of a customer.\n\nThe newest come first."),
		tool("shop_get_order", "Get one order"),
		tool("shop_createOrder", "Create an order for a customer"),
		tool("shop_cancelOrder", "Cancel an order that was not shipped"),
		tool("shop_listCustomers", "List customers"),
		tool("shop_refundPayment", "Give the money of a payment back, for a returned order"),
		tool("shop_listPaymentMethods", "List the ways to pay of a customer"),
		tool("shop_getHTTPStatus", "Whether the shop is up"),
		tool("wetter", "天气预报: die Wettervorhersage für morgen"), //nolint:gosmopolitan // words without spaces between them
	})
}

func names(t *testing.T, result json.RawMessage) (all []string) {
	t.Helper()

	var r struct {
		Tools []struct{ Name string }
		Note  string
	}
	if err := json.Unmarshal(result, &r); err != nil {
		t.Fatal(err)
	}
	for _, tool := range r.Tools {
		all = append(all, tool.Name)
	}
	if (len(all) == 0) != (r.Note != "") {
		t.Errorf("the result is %s", result)
	}
	return all
}

// TestSearch has the tool that is meant first.
func TestSearch(t *testing.T) {
	t.Parallel()

	for query, want := range map[string]string{
		"list orders":                          "shop_listOrders",
		"How can I list the orders?":           "shop_listOrders",
		"cancelling of orders":                 "shop_cancelOrder",
		"creating an order":                    "shop_createOrder",
		"create":                               "shop_createOrder",
		"refunds":                              "shop_refundPayment",
		"money back":                           "shop_refundPayment",
		"ways to pay":                          "shop_listPaymentMethods",
		"http status":                          "shop_getHTTPStatus",
		"SHOP_LISTCUSTOMERS shop_getOrder get": "shop_get_order",
		"customers":                            "shop_listCustomers",
		"cust":                                 "shop_listCustomers",
		"天气":                                   "wetter", //nolint:gosmopolitan // the same
		"Wettervorhersagen":                    "wetter",
	} {
		if got := names(t, shop().Search(query)); len(got) == 0 || got[0] != want {
			t.Errorf("%q: %v, want %s", query, got, want)
		}
	}
	if got := names(t, shop().Search("xylophone")); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if got := names(t, shop().Search("the")); slices.Contains(got, "now") || len(got) == 0 {
		t.Errorf("only fillers: %v", got)
	}
}

// TestSearchBounded has more hits than a result.
func TestSearchBounded(t *testing.T) {
	t.Parallel()

	var tools []spool.Tool
	for i := range 1200 {
		tools = append(tools, tool(fmt.Sprintf("api_listThings%d", i), "List things\nof number "+strconv.Itoa(i)))
	}
	first := catalogue.Of(tools).Search("things 777")
	for range 20 {
		if again := catalogue.Of(tools).Search("things 777"); string(again) != string(first) {
			t.Fatalf("the same search found\n%s\nand\n%s", first, again)
		}
	}
	got := names(t, first)
	if len(got) != 10 || got[0] != "api_listThings777" || got[1] != "api_listThings0" {
		t.Errorf("found %v", got)
	}
	if !strings.Contains(string(first), `"description":"List things"}`) ||
		!strings.HasSuffix(string(first), `"more":1190}`) {
		t.Errorf("the result is %s", first)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()

	c := shop()
	got := c.Describe([]string{"shop_listOrders", "nothing", "shop_get_order", "shop_listOrders"},
		[]string{"shop_listOrders"})
	want := `{"tools":[{"name":"shop_listOrders","description":"List the orders of a customer.\n\nThe newest come first.","parameters":{"type":"object"}}],` +
		`"notes":["there is no tool \"nothing\": find tools with searchTools",` +
		`"shop_get_order cannot be called: this run has described 64 tools, and cannot have more. Go on with those"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	long := tool("long", "All\n"+strings.Repeat("x", 60<<10))
	got = catalogue.Of([]spool.Tool{long}).Describe([]string{"long"}, []string{"long"})
	if want := `{"tools":[{"name":"long","description":"All"}],"notes":["long is too long to be shown here: your list of tools has all of it"]}`; string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestFresh counts what a run has already, and each name once.
func TestFresh(t *testing.T) {
	t.Parallel()

	c := shop()
	if got := c.Fresh(
		[]string{"shop_get_order", "now", "shop_get_order", "wetter"}, []string{"wetter"},
	); !slices.Equal(got, []string{"shop_get_order"}) {
		t.Errorf("got %v", got)
	}
	if got := c.Fresh(
		[]string{"shop_get_order", "wetter"}, make([]string, spool.MaxDescribed-1),
	); !slices.Equal(got, []string{"shop_get_order"}) {
		t.Errorf("got %v", got)
	}
}

// TestArguments refuses arguments with what the model can do about them.
func TestArguments(t *testing.T) {
	t.Parallel()

	tools := shop().Tools()
	for args, want := range map[string]string{
		`{"query":"a"}`: "", `{"names":["a"]}`: "",
		`{"query":" "}`:          "query is empty",
		`{"query":7}`:            "the argument is query, a string",
		`{"query":"a","more":1}`: "the argument is query, a string",
		`{"query":"` + strings.Repeat("a", 1001) + `"}`: "query is longer than 1000 bytes",
		`{"names":[]}`:  "names is empty",
		`{"names":"a"}`: "the argument is names, a list of strings",
		`{"names":[` + strings.Repeat(`"a",`, 10) + `"a"]}`: "names has 11 names, and up to 10 can be described at once",
	} {
		at := 0
		if strings.Contains(args, "names") {
			at = 1
		}
		text := ""
		if err := tools[at].Check(json.RawMessage(args)); err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s: %q", args, text)
		}
	}
	if catalogue.Of([]spool.Tool{{}}) != nil {
		t.Error("a list without such tools has a catalogue")
	}
}
