package responses_test

import (
	"io"
	"net/http"
	"strings"

	fake "github.com/spoolhq/spool/internal/testing/fake/responses"
)

func refuse(code, message string) fake.Answer {
	return fake.Answer{
		HTTP: &fake.Failure{Status: http.StatusBadRequest, Code: code, Type: "invalid_request_error", Message: message},
	}
}

func write(text string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		_, _ = io.WriteString(w, text)
		return false
	}
}

// endless writes a piece again and again until the caller goes away.
func endless(first, piece string, gone func()) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		_, _ = io.WriteString(w, first)
		for range (256 << 20) / len(piece) {
			if _, err := io.WriteString(w, piece); err != nil || r.Context().Err() != nil {
				gone()
				return true
			}
		}
		return true
	}
}

// signedItems are the items of [spooltest.ModelSigned], and what a request must have of each.
var signedItems = []struct {
	item fake.Item
	kind string
	data string
}{
	{fake.Reason("First ", "thought.").Sealed("sigR1/+A"), "reasoning", "sigR1/+A"},
	{fake.Reason().Sealed("sealed/A"), "reasoning", "sealed/A"},
	{fake.Text("Look", "ing."), "message", "Looking."},
	{
		fake.Own(`{"type":"web_search_call","status":"completed","action":{"type":"search","query":"part/++A"}}`),
		"web_search_call", "part/++A",
	},
	{fake.Reason("Second ", "thought.").Sealed("sigR2/+A"), "reasoning", "sigR2/+A"},
	{fake.Call("call_a", "weather", `{"city":`, `"Oslo"}`), "function_call", "Oslo"},
	{fake.Call("call_b", "clock", `{"zone":"UTC"}`), "function_call", "UTC"},
}

// playSigned refuses what the fake alone accepts: blocks that are missing.
func playSigned(r *fake.Request) fake.Answer {
	if r.Count("function_call_output") == 0 {
		var a fake.Answer
		for _, signed := range signedItems {
			a.Items = append(a.Items, signed.item)
		}
		return a
	}
	if r.Model == "other-model" {
		if r.Count("reasoning")+r.Count("web_search_call") > 0 {
			return refuse("", "foreign items")
		}
		return fake.Answer{Items: []fake.Item{fake.Text("Do", "ne.")}}
	}
	said := r.Input[1:]
	for i, signed := range signedItems {
		if i >= len(said) || said[i].Type != signed.kind || !strings.Contains(string(said[i].Raw), signed.data) {
			return refuse("", "the item "+signed.data+" is missing")
		}
	}
	return fake.Answer{Items: []fake.Item{fake.Text("Do", "ne.")}}
}

// playOutput answers with the value that the request asks for.
func playOutput(r *fake.Request) fake.Answer {
	if format := r.Format(); format["type"] != "json_schema" || format["name"] != "weather_report" ||
		format["strict"] != true {
		return refuse("", "the request does not ask for the value")
	}
	if strings.Contains(r.Raw, `"name":"weather"`) && r.Count("function_call_output") == 0 {
		return fake.Answer{Items: []fake.Item{fake.Call("call_a", "weather", `{"city":"Oslo"}`)}}
	}
	return fake.Answer{Items: []fake.Item{fake.Text(`{"city":"Oslo",`, `"degrees":21}`)}}
}
