package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/testing/fake/gemini"
)

// post sends a body to a server and returns the status and the body of its answer.
func post(t *testing.T, s *gemini.Server, target, key, body string) (int, string) {
	t.Helper()

	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("X-Goog-Api-Key", key)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	answer, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(answer)
}

const (
	newModel = "/v1beta/models/gemini-3-x:streamGenerateContent?alt=sse"
	oldModel = "/v1beta/models/gemini-2.0-x:streamGenerateContent?alt=sse"

	userHi  = `{"role":"user","parts":[{"text":"Hi"}]}`
	skipped = `{"functionCall":{"name":"a"},"thoughtSignature":"skip_thought_signature_validator"}`
	result  = `{"functionResponse":{"name":"a","response":{}}}`
)

// Each request of the list is wrong in one thing.
func TestRefuses(t *testing.T) {
	t.Parallel()

	contents := func(list ...string) string { return `{"contents":[` + strings.Join(list, ",") + `]}` }
	with := func(fields string) string { return `{"contents":[` + userHi + `],` + fields + `}` }
	model := func(parts string) string { return `{"role":"model","parts":[` + parts + `]}` }
	user := func(parts string) string { return `{"role":"user","parts":[` + parts + `]}` }
	for name, c := range map[string]struct{ target, body, want string }{
		"NoContents":    {newModel, `{}`, "contents is not specified"},
		"UnknownField":  {newModel, with(`"temperature":1`), `Unknown name \"temperature\"`},
		"UnknownInside": {newModel, contents(user(`{"text":"a","cache_control":{}}`)), `Unknown name \"cache_control\"`},
		"NoJSON":        {newModel, `{"contents":`, "Invalid JSON payload"},
		"Query":         {strings.TrimSuffix(newModel, "alt=sse") + "alt=sse&key=x", contents(userHi), "query"},
		"Role":          {newModel, contents(`{"role":"tool","parts":[{"text":"a"}]}`), "valid role"},
		"ModelFirst":    {newModel, contents(model(`{"text":"a"}`), userHi), "begin with a user turn"},
		"ModelLast":     {newModel, contents(userHi, model(`{"text":"a"}`)), "end with a user"},
		"SameRole":      {newModel, contents(userHi, userHi), "alternate"},
		"NoParts":       {newModel, contents(user(``)), "must not be empty"},
		"NoData":        {newModel, contents(user(`{}`)), "must have one initialized field"},
		"TwoData":       {newModel, contents(user(`{"text":"a","inlineData":{"mimeType":"a/b","data":"YQ=="}}`)), "oneof"},
		"NoMIMEType":    {newModel, contents(user(`{"inlineData":{"data":"YQ=="}}`)), "mimeType"},
		"URI":           {newModel, contents(user(`{"fileData":{"fileUri":"http://x"}}`)), "file uri"},
		"NoResponse":    {newModel, contents(userHi, model(skipped), userHi), "number of function response parts"},
		"LateResponse": {
			newModel, contents(userHi, model(`{"text":"a"}`), user(result)), "immediately after a function call",
		},
		"OtherName": {
			newModel, contents(userHi, model(skipped), user(`{"functionResponse":{"name":"b","response":{}}}`)), "has the name",
		},
		"OtherID": {
			newModel, contents(userHi, model(skipped), user(`{"functionResponse":{"id":"x","name":"a","response":{}}}`)),
			"has the name",
		},
		"Unsigned": {
			newModel, contents(userHi, model(`{"functionCall":{"name":"a"}}`), user(result)), "missing a thought_signature",
		},
		"MadeUp": {
			newModel, contents(userHi, model(`{"functionCall":{"name":"a"},"thoughtSignature":"AAAA"}`), user(result)),
			"not valid",
		},
		"MadeUpBefore": {newModel, contents(userHi, model(`{"text":"a","thoughtSignature":"AAAA"}`), userHi), "not valid"},
		"SkippedText": {
			newModel, contents(userHi, model(`{"text":"a","thoughtSignature":"`+gemini.Skip+`"}`), userHi), "not valid",
		},
		"UserThinks": {newModel, contents(user(`{"text":"a","thought":true}`)), "no thoughts"},
		"ArgsList": {
			newModel,
			contents(userHi, model(`{"functionCall":{"name":"a","args":[1]},"thoughtSignature":"`+gemini.Skip+`"}`),
				user(result)),
			"object as args",
		},
		"FunctionName":  {newModel, with(`"tools":[{"functionDeclarations":[{"name":"1a"}]}]`), "Invalid function name"},
		"FunctionTwice": {newModel, with(`"tools":[{"functionDeclarations":[{"name":"a"},{"name":"a"}]}]`), "Duplicate"},
		"SchemaNoType":  {newModel, with(`"generationConfig":{"responseJsonSchema":{}}`), "application/json"},
		"TwoThinking": {
			newModel, with(`"generationConfig":{"thinkingConfig":{"thinkingBudget":1,"thinkingLevel":"LOW"}}`), "only one of",
		},
		"Level": {newModel, with(`"generationConfig":{"thinkingConfig":{"thinkingLevel":"low"}}`), "thinking_level"},
		"AnyOfNothing": {
			newModel, with(`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}`), "without function_declarations",
		},
		"OldThinks": {oldModel, with(`"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`), "not supported"},
		"OldOutputCalls": {
			oldModel,
			with(`"tools":[{"functionDeclarations":[{"name":"a"}]}],"generationConfig":{"responseMimeType":"application/json"}`),
			"is unsupported",
		},
	} {
		s := gemini.New(gemini.Config{})
		if status, body := post(t, s, c.target, "", c.body); status != http.StatusBadRequest ||
			!strings.Contains(body, c.want) || len(s.Refused()) != 1 {
			t.Errorf("%s: got %d %s, want %s", name, status, body, c.want)
		}
	}
}

func TestAccepts(t *testing.T) {
	t.Parallel()

	for name, body := range map[string]string{
		"Plain": `{"contents":[` + userHi + `],"safetySettings":[],"generationConfig":{"topK":3}}`,
		"Turn": `{"contents":[` + userHi + `,{"role":"model","parts":[` + skipped +
			`,{"functionCall":{"name":"a"}}]},{"role":"user","parts":[` + result + `,` + result + `,{"text":"b"}]}]}`,
		// Unsigned calls of earlier turns are accepted.
		"Earlier": `{"contents":[` + userHi +
			`,{"role":"model","parts":[{"functionCall":{"name":"a"}}]},{"role":"user","parts":[` + result +
			`]},{"role":"model","parts":[{"text":"b"}]},` + userHi + `]}`,
	} {
		if status, answer := post(t, gemini.New(gemini.Config{}), newModel, "", body); status != http.StatusOK {
			t.Errorf("%s: got %d %s", name, status, answer)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()

	s := gemini.New(gemini.Config{Key: "right"})
	body := `{"contents":[` + userHi + `]}`
	for key, want := range map[string]int{
		"right": http.StatusOK, "wrong": http.StatusBadRequest, "": http.StatusForbidden,
	} {
		if status, answer := post(t, s, newModel, key, body); status != want {
			t.Errorf("%q: got %d %s", key, status, answer)
		}
	}
	if status, _ := post(t, s, "/v1/models/x:generateContent", "right", body); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
}
